// The image type: pixels of 1 to 4 channels in rows with a pitch; owns its memory, views the caller's, or is on a
// device.
//
//   Image own({.rows = 480, .columns = 640, .channels = 3});
//   Image caller = Image::view(mat.data, {.rows = 480, .columns = 640, .channels = 3}, mat.step);    // no copy
//   Image resident = Image::on(gpu, own.shape());
//   upload(queue, own, resident);
//
// An Image is a handle: copies share pixels, as buffers do. clone() copies the pixels.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <type_traits>

#include <ridge/device.hpp>

namespace ridge::image {

// Type of a channel. u32 and f64 are outputs of integral() only, whose sums exceed the other types.
enum class Depth : std::uint8_t { u8, u16, f32, u32, f64 };
constexpr std::size_t bytes_of(Depth depth) {
  constexpr std::size_t kBytes[] = {1, 2, 4, 4, 8};
  return kBytes[static_cast<std::size_t>(depth)];
}
const char* to_string(Depth depth);  // "8-bit", "16-bit", "float", ...

template <class T>
constexpr Depth depth_of() {
  if constexpr (std::is_same_v<T, std::uint8_t>) return Depth::u8;
  if constexpr (std::is_same_v<T, std::uint16_t>) return Depth::u16;
  if constexpr (std::is_same_v<T, float>) return Depth::f32;
  if constexpr (std::is_same_v<T, std::uint32_t>) return Depth::u32;
  if constexpr (std::is_same_v<T, double>) return Depth::f64;
}

// Values beyond the image, for pixels a b c d:
enum class Border : std::uint8_t {
  reflect_101,  // d c b | a b c d | c b a: the edge is not repeated
  reflect,      // c b a | a b c d | d c b: the edge is repeated
  replicate,    // a a a | a b c d | d d d
  constant,     // k k k | a b c d | k k k
  wrap,         // b c d | a b c d | a b c
};
const char* to_string(Border border);  // "reflect-101"
// Also accepts OpenCV's names BORDER_REFLECT_101 and BORDER_DEFAULT. Error{invalid_argument} listing the names.
Border border_of(const std::string& name);
std::ptrdiff_t border_index(Border border, std::ptrdiff_t index,
                            std::ptrdiff_t size);  // any distance; -1: the constant

struct Shape {
  std::size_t rows = 0, columns = 0, channels = 1;
  Depth depth = Depth::u8;
  std::size_t pixel_bytes() const { return channels * bytes_of(depth); }
  std::size_t row_bytes() const { return columns * pixel_bytes(); }
  bool operator==(const Shape&) const = default;
  std::string text() const;  // "1920x1080, 3 channels of 8-bit"
};
// Error{invalid_argument} for no pixels, more than 4 channels, or a size in bytes that overflows.
void check(const Shape& shape, const std::string& what);

class Image {
 public:
  Image() = default;                   // empty: rows() is 0
  explicit Image(const Shape& shape);  // own memory, rows aligned, values uninitialized

  // A view of the caller's memory, which must outlive the image and its copies. `pitch`: bytes from one row to the
  // next, a multiple of the channel size; 0 for packed rows. A view of const memory is read-only.
  static Image view(void* pixels, const Shape& shape, std::size_t pitch = 0);
  static Image view(const void* pixels, const Shape& shape, std::size_t pitch = 0);
  // On a device, in a new buffer or in the caller's buffer at `offset` bytes.
  static Image on(const Device& device, const Shape& shape, const std::string& name = "image");
  static Image of(const Buffer& buffer, const Shape& shape, std::size_t pitch = 0, std::size_t offset = 0);

  explicit operator bool() const { return shape_.rows != 0; }
  const Shape& shape() const { return shape_; }
  std::size_t rows() const { return shape_.rows; }
  std::size_t columns() const { return shape_.columns; }
  std::size_t channels() const { return shape_.channels; }
  Depth depth() const { return shape_.depth; }
  std::size_t pitch() const { return pitch_; }                  // bytes
  std::size_t span_bytes() const;                               // from the first byte to past the last one
  bool resident() const { return static_cast<bool>(buffer_); }  // in a buffer
  bool read_only() const { return read_only_; }
  const Buffer& buffer() const { return buffer_; }  // if resident()
  std::size_t offset() const { return offset_; }    // bytes into it

  // Host memory only, without bounds checks. Error{invalid_argument} for a resident or read-only image.
  std::byte* bytes();
  const std::byte* bytes() const;
  template <class T>
  T* row(std::size_t r) {
    return reinterpret_cast<T*>(bytes() + r * pitch_);
  }
  template <class T>
  const T* row(std::size_t r) const {
    return reinterpret_cast<const T*>(bytes() + r * pitch_);
  }

  Image part(std::size_t row, std::size_t column, std::size_t rows, std::size_t columns) const;  // shares the pixels
  Image clone() const;                                                                           // host memory

 private:
  Shape shape_ = {};
  std::size_t pitch_ = 0, offset_ = 0;
  std::byte* data_ = nullptr;
  std::shared_ptr<void> owner_ = {};
  Buffer buffer_ = {};
  bool read_only_ = false;
};

// Copies between host and device, for equal shapes and any pitch. The host's pixels must stay valid until the queue has
// executed the copy.
void upload(Queue& queue, const Image& from, const Image& to);
void download(Queue& queue, const Image& from, Image& to);

// Copies pixels and converts their depth. Between integers the full range is scaled (255 becomes 65535); to and from
// float values are kept (255 becomes 255.0), rounded half to even and clamped.
void convert(const Image& from, Image& to);

}  // namespace ridge::image
