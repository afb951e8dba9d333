// Sizes of the small images, and the comparison of two references that shows whether results repeat.
#include "image/repeated_images.hpp"

#include <cmath>
#include <cstring>

#include "device/random.hpp"
#include "image/work.hpp"

namespace ridge::image {
namespace {

constexpr std::size_t kSmaller = 8;  // the small image has at most an eighth of the pixels
// Odd, so that a misplaced tile differs.
constexpr std::size_t kRowPeriod = 31, kColumnPeriod = 61;
constexpr std::size_t kReaches[] = {8, 32, 128};  // pixels from the ends within which results do not repeat

const char* element_of(Depth depth) {
  switch (depth) {
    case Depth::u8:
      return "uchar";
    case Depth::u16:
      return "ushort";
    case Depth::u32:
      return "uint";
    case Depth::f32:
      return "float";
    case Depth::f64:
      break;
  }
  return "double";
}

// Along columns in values of all channels.
Repetition repetition_of(const RepeatedAxis& rows, const RepeatedAxis& columns, std::size_t channels) {
  const RepeatedAxis values{columns.whole * channels, columns.small * channels, columns.head * channels,
                            columns.period * channels};
  return {{RepeatedAxis{}, rows, values}, 1};
}

// Random small images that repeat.
std::vector<Image> small_images(std::span<const Shape> in, const RepeatedAxis& rows, const RepeatedAxis& columns) {
  std::vector<Shape> shapes(in.begin(), in.end());
  for (Shape& shape : shapes) {
    shape.rows = rows.small;
    shape.columns = columns.small;
  }
  std::vector<Image> images = random_images(shapes);
  const auto first = [](const RepeatedAxis& axis, std::size_t i) { return axis.repeats() ? i % axis.period : i; };
  for (Image& image : images) {
    const std::size_t bytes = image.shape().pixel_bytes();
    for (std::size_t r = 0; r < rows.small; ++r) {
      const std::byte* from = image.row<std::byte>(first(rows, r));
      for (std::size_t c = 0; c < columns.small; ++c)
        std::memmove(image.row<std::byte>(r) + c * bytes, from + first(columns, c) * bytes, bytes);
    }
  }
  return images;
}

// A small image, packed on the device.
Image uploaded(Queue& queue, const Image& small) {
  const Shape& shape = small.shape();
  const Buffer buffer = queue.device().buffer(shape.rows * shape.row_bytes(), {.name = "image, pixels that repeat"});
  const Image packed = Image::of(buffer, shape);
  upload(queue, small, packed);
  queue.finish();
  return packed;
}

RepeatedArrays arrays_for(const Device& device, const RepeatedAxis& rows, const RepeatedAxis& columns,
                          const Image& resident) {
  return {device, repetition_of(rows, columns, resident.channels()), element_of(resident.depth()),
          resident.pitch() / bytes_of(resident.depth())};
}

// True if every pixel of the larger image equals its source in the smaller one.
bool repeats(const Image& larger, const Image& smaller, const RepeatedAxis& rows, const RepeatedAxis& columns) {
  const std::size_t bytes = larger.shape().pixel_bytes();
  for (std::size_t r = 0; r < larger.rows(); ++r) {
    for (std::size_t c = 0; c < larger.columns(); ++c) {
      const std::byte* from = smaller.row<std::byte>(rows.source(r)) + columns.source(c) * bytes;
      if (std::memcmp(larger.row<std::byte>(r) + c * bytes, from, bytes) != 0) return false;
    }
  }
  return true;
}

}  // namespace

double value_at(const Image& image, std::size_t r, std::size_t i) {
  switch (image.depth()) {
    case Depth::u8:
      return image.row<std::uint8_t>(r)[i];
    case Depth::u16:
      return image.row<std::uint16_t>(r)[i];
    case Depth::u32:
      return image.row<std::uint32_t>(r)[i];
    case Depth::f32:
      return double{image.row<float>(r)[i]};
    case Depth::f64:
      break;
  }
  return image.row<double>(r)[i];
}

std::optional<RepeatedImages> RepeatedImages::make(const Device& device, std::span<const Shape> in, const Shape& out,
                                                   const SmallReference& reference, std::size_t least) {
  if (device.is_host() || !reference || out.rows * out.columns * out.channels < least) return {};
  for (const Shape& shape : in) {
    if (shape.rows != out.rows || shape.columns != out.columns) return {};
  }
  for (const std::size_t reach : kReaches) {
    RepeatedImages made;
    made.rows_ = repeated_axis(out.rows, reach, kRowPeriod);
    made.columns_ = repeated_axis(out.columns, reach, kColumnPeriod);
    if (made.rows_.small * made.columns_.small * kSmaller > out.rows * out.columns) continue;
    made.small_ = small_images(in, made.rows_, made.columns_);
    made.expected_ = reference(made.small_);
    // An image with one more period along each axis.
    const auto longer = [&](const RepeatedAxis& axis, std::size_t period) {
      return axis.repeats() ? repeated_axis(axis.small + period, reach, period) : axis;
    };
    const RepeatedAxis rows = longer(made.rows_, kRowPeriod), columns = longer(made.columns_, kColumnPeriod);
    std::vector<Image> larger;
    for (const Image& small : made.small_) {
      Shape shape = small.shape();
      shape.rows = rows.whole;
      shape.columns = columns.whole;
      Image& image = larger.emplace_back(shape);
      for (std::size_t r = 0; r < shape.rows; ++r) {
        for (std::size_t c = 0; c < shape.columns; ++c)
          std::memcpy(image.row<std::byte>(r) + c * shape.pixel_bytes(),
                      small.row<std::byte>(rows.source(r)) + columns.source(c) * shape.pixel_bytes(),
                      shape.pixel_bytes());
      }
    }
    if (repeats(reference(larger), made.expected_, rows, columns)) return made;
  }
  return {};
}

void RepeatedImages::fill(Queue& queue, std::span<const Image> resident) const {
  for (std::size_t i = 0; i < resident.size(); ++i) {
    const Image small = uploaded(queue, small_[i]);
    arrays_for(queue.device(), rows_, columns_, resident[i]).expand(queue, small.buffer(), resident[i].buffer());
    queue.finish();  // before the small image is freed
  }
}

RepeatedImages::Difference RepeatedImages::compare(Queue& queue, const Image& answer) const {
  const Image small = uploaded(queue, expected_);
  const auto found =
      arrays_for(queue.device(), rows_, columns_, answer).compare(queue, answer.buffer(), small.buffer());
  const std::size_t wide = answer.columns() * answer.channels(), small_wide = expected_.columns() * answer.channels();
  double squares = 0;
  for (std::size_t r = 0; r < expected_.rows(); ++r) {
    for (std::size_t i = 0; i < small_wide; ++i) squares += value_at(expected_, r, i) * value_at(expected_, r, i);
  }
  return {.worst = found.worst,
          .size = std::sqrt(squares / static_cast<double>(expected_.rows() * small_wide)),
          .row = found.place / wide,
          .value = found.place % wide};
}

}  // namespace ridge::image
