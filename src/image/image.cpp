// Images: shape, memory, views and names of their parameters.
#include <algorithm>
#include <array>
#include <cstring>
#include <limits>

#include <fmt/format.h>
#include <ridge/image/image.hpp>

#include "base/aligned.hpp"
#include "base/number.hpp"
#include "image/text.hpp"
#include "image/variant.hpp"

namespace ridge::image {
namespace {

constexpr std::size_t kRowAlignment = 64;  // of images that own their memory

std::size_t span_of(const Shape& shape, std::size_t pitch) { return (shape.rows - 1) * pitch + shape.row_bytes(); }

std::size_t checked_pitch(const Shape& shape, std::size_t pitch) {
  check(shape, "image");
  if (pitch == 0) return shape.row_bytes();
  if (pitch < shape.row_bytes() || pitch % bytes_of(shape.depth) != 0) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("image: a pitch of {} bytes for rows of {} bytes; it must hold a row and be a multiple of {}",
                    pitch, shape.row_bytes(), bytes_of(shape.depth)));
  }
  if (pitch > std::numeric_limits<std::ptrdiff_t>::max() / shape.rows) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("image: {} rows with a pitch of {} bytes exceed the address space", shape.rows, pitch));
  }
  return pitch;
}

}  // namespace

const char* to_string(Depth depth) {
  constexpr const char* kNames[] = {"8-bit", "16-bit", "float", "32-bit", "double"};
  return kNames[static_cast<std::size_t>(depth)];
}

const char* to_string(Border border) { return kBorders.name(border); }
Border border_of(const std::string& name) {
  std::string plain = base::lower_case(name);
  std::replace(plain.begin(), plain.end(), '_', '-');
  if (plain.starts_with("border-")) plain.erase(0, 7);
  if (plain == "reflect101" || plain == "default") return Border::reflect_101;
  for (const auto& [border, known] : kBorders.entries) {
    if (plain == known) return border;
  }
  return kBorders.value(name);  // throws with the given name
}

std::ptrdiff_t border_index(Border border, std::ptrdiff_t index, std::ptrdiff_t size) {
  if (index >= 0 && index < size) return index;
  switch (border) {
    case Border::replicate:
      return index < 0 ? 0 : size - 1;
    case Border::constant:
      return -1;
    case Border::wrap:
      return (index % size + size) % size;
    case Border::reflect: {
      const std::ptrdiff_t period = 2 * size, at = (index % period + period) % period;
      return at < size ? at : period - 1 - at;
    }
    case Border::reflect_101:
      break;
  }
  if (size == 1) return 0;
  const std::ptrdiff_t period = 2 * (size - 1), at = (index % period + period) % period;
  return at < size ? at : period - at;
}

std::string Shape::text() const {
  return fmt::format("{}x{}, {} channel{} of {}", columns, rows, channels, channels == 1 ? "" : "s", to_string(depth));
}

void check(const Shape& shape, const std::string& what) {
  const auto refuse = [&](const std::string& why) {
    throw Error(ErrorKind::invalid_argument, fmt::format("{} of {}: {}", what, shape.text(), why));
  };
  if (shape.rows == 0 || shape.columns == 0) refuse("no pixels: rows and columns must be at least 1");
  if (shape.channels == 0 || shape.channels > 4) refuse("needs 1 to 4 channels");
  constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<std::ptrdiff_t>::max());
  if (shape.columns > kMost / 64 || shape.rows > kMost / 64 / shape.columns)
    refuse(fmt::format("needs fewer than {} pixels", kMost / 64));
}

Image::Image(const Shape& shape) : shape_(shape) {
  check(shape, "image");
  pitch_ = (shape.row_bytes() + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
  auto memory = base::allocate_aligned(pitch_ * shape.rows);
  data_ = static_cast<std::byte*>(memory.get());
  owner_ = std::move(memory);
}

Image Image::view(void* pixels, const Shape& shape, std::size_t pitch) {
  Image image;
  image.pitch_ = checked_pitch(shape, pitch);
  if (pixels == nullptr) throw Error(ErrorKind::invalid_argument, "image: a view needs memory, got a null pointer");
  image.shape_ = shape;
  image.data_ = static_cast<std::byte*>(pixels);
  return image;
}

Image Image::view(const void* pixels, const Shape& shape, std::size_t pitch) {
  Image image = view(const_cast<void*>(pixels), shape, pitch);  // read_only_ preserves the constness
  image.read_only_ = true;
  return image;
}

Image Image::on(const Device& device, const Shape& shape, const std::string& name) {
  check(shape, "image");
  const std::size_t pitch = (shape.row_bytes() + kRowAlignment - 1) / kRowAlignment * kRowAlignment;
  return of(device.buffer(pitch * shape.rows, {.name = name}), shape, pitch);
}

Image Image::of(const Buffer& buffer, const Shape& shape, std::size_t pitch, std::size_t offset) {
  Image image;
  image.pitch_ = checked_pitch(shape, pitch);
  if (offset % bytes_of(shape.depth) != 0 || offset > buffer.size() ||
      span_of(shape, image.pitch_) > buffer.size() - offset) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("image of {} in buffer \"{}\" from byte {} on: the buffer has {} bytes, {} are needed",
                            shape.text(), buffer.name(), offset, buffer.size(), span_of(shape, image.pitch_)));
  }
  image.shape_ = shape;
  image.buffer_ = buffer;
  image.offset_ = offset;
  return image;
}

std::size_t Image::span_bytes() const { return shape_.rows == 0 ? 0 : span_of(shape_, pitch_); }

std::byte* Image::bytes() {
  if (read_only_)
    throw Error(ErrorKind::invalid_argument, "image: this is a view of const memory and cannot be written");
  return const_cast<std::byte*>(std::as_const(*this).bytes());
}

const std::byte* Image::bytes() const {
  if (buffer_) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("image in buffer \"{}\" of {}: download it to access its pixels", buffer_.name(),
                            buffer_.device().id()));
  }
  return data_;
}

Image Image::part(std::size_t row, std::size_t column, std::size_t rows, std::size_t columns) const {
  if (row > shape_.rows || rows > shape_.rows - row || column > shape_.columns || columns > shape_.columns - column) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("image: a part of {}x{} from column {}, row {} does not lie in {}", columns, rows, column,
                            row, shape_.text()));
  }
  Image image = *this;
  image.shape_.rows = rows;
  image.shape_.columns = columns;
  check(image.shape_, "part of an image");
  const std::size_t skip = row * pitch_ + column * shape_.pixel_bytes();
  if (buffer_) {
    image.offset_ += skip;
  } else {
    image.data_ += skip;
  }
  return image;
}

Image Image::clone() const {
  Image copy(shape_);
  for (std::size_t r = 0; r < shape_.rows; ++r)
    std::memcpy(copy.row<std::byte>(r), row<std::byte>(r), shape_.row_bytes());
  return copy;
}

// Runs host variants on images in host buffers.

Image in_memory(const Image& image) {
  if (!image.resident()) return image;
  auto* bytes = reinterpret_cast<std::byte*>(image.buffer().native()) + image.offset();
  return Image::view(static_cast<void*>(bytes), image.shape(), image.pitch());
}

void HostVariant::enqueue(Queue&, std::span<const Image> in, const Image& out) const {
  std::array<Image, 2> images;
  for (std::size_t i = 0; i < in.size(); ++i) images.at(i) = in_memory(in[i]);
  Image result = in_memory(out);
  run(std::span<const Image>(images.data(), in.size()), result);
}

}  // namespace ridge::image
