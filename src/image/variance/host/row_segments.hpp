// Segments of image rows extended beyond the edges by the border rule, in the type a kernel needs.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <ridge/image.hpp>

namespace ridge::image {

template <class T>
constexpr bool kHasDepth =
    std::is_same_v<T, std::uint8_t> || std::is_same_v<T, std::uint16_t> || std::is_same_v<T, float>;

template <class To>
struct RowSegments {
  const Image& image;  // one channel
  Border border;
  double constant;
  To shift;  // subtracted from every value

  // Returns columns [left, left + count) of row r: a pointer into the image if no conversion is needed, else `out`.
  const To* seen(std::ptrdiff_t r, std::ptrdiff_t left, std::ptrdiff_t count, To* out) const {
    if constexpr (kHasDepth<To>) {
      const bool inside = left >= 0 && left + count <= static_cast<std::ptrdiff_t>(image.columns());
      const bool same = image.depth() == depth_of<To>() && shift == To{0};
      const std::ptrdiff_t y = border_index(border, r, static_cast<std::ptrdiff_t>(image.rows()));
      if (inside && same && y >= 0) return image.row<To>(static_cast<std::size_t>(y)) + left;
    }
    segment(r, left, count, out);
    return out;
  }

  // Copies columns [left, left + count) of row r to `out`; both may be outside the image.
  void segment(std::ptrdiff_t r, std::ptrdiff_t left, std::ptrdiff_t count, To* out) const {
    switch (image.depth()) {
      case Depth::u8:
        return segment_of<std::uint8_t>(r, left, count, out);
      case Depth::u16:
        return segment_of<std::uint16_t>(r, left, count, out);
      default:
        return segment_of<float>(r, left, count, out);
    }
  }

 private:
  template <class T>
  void segment_of(std::ptrdiff_t r, std::ptrdiff_t left, std::ptrdiff_t count, To* out) const {
    const auto rows = static_cast<std::ptrdiff_t>(image.rows()), columns = static_cast<std::ptrdiff_t>(image.columns());
    const std::ptrdiff_t y = border_index(border, r, rows);
    const To beyond = static_cast<To>(static_cast<To>(constant) - shift);
    if (y < 0) {
      std::fill_n(out, count, beyond);
      return;
    }
    const T* row = image.row<T>(static_cast<std::size_t>(y));
    const auto outside = [&](std::ptrdiff_t c) {
      const std::ptrdiff_t x = border_index(border, c, columns);
      return x < 0 ? beyond : static_cast<To>(static_cast<To>(row[x]) - shift);
    };
    const std::ptrdiff_t first = std::clamp<std::ptrdiff_t>(-left, 0, count),
                         last = std::clamp<std::ptrdiff_t>(columns - left, first, count);
    for (std::ptrdiff_t c = 0; c < first; ++c) out[c] = outside(left + c);
    const To less = shift;
    for (std::ptrdiff_t c = first; c < last; ++c) out[c] = static_cast<To>(static_cast<To>(row[left + c]) - less);
    for (std::ptrdiff_t c = last; c < count; ++c) out[c] = outside(left + c);
  }
};

}  // namespace ridge::image
