// Kernels for 3x3 and 5x5 medians of a row.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::image {

// out[i] = median of the 3x3 pixels around value i, for `wide` values of `step` channels. `rows` point into the image;
// the pixels beyond their ends are passed separately. Nothing outside the rows is read or written.
template <class T>
struct MedianRow {
  const T* rows[3];
  const T* ahead;  // row to prefetch for the next call
  T before[3][4], behind[3][4];
  std::size_t step, wide;
  T* out;
  bool nontemporal;  // non-temporal stores; `out` must be aligned to 64 bytes
};
// Bytes of a strip, of the margin on either side, and of the sorted columns of one strip.
inline constexpr std::size_t kMedianStrip = 4096, kMedianMargin = 128, kMedianStride = kMedianStrip + 2 * kMedianMargin;
inline constexpr std::size_t kMedianColumns = 3 * kMedianStride;
void median_3_row(const MedianRow<std::uint8_t>& row, std::uint8_t* columns);
void median_3_row(const MedianRow<std::uint16_t>& row, std::uint16_t* columns);
void median_3_row(const MedianRow<float>& row, float* columns);

// 5x5 medians. Rows need two pixels beyond their ends; buffers may be read and written up to a vector beyond n.
void median_5_row(const std::uint8_t* const* rows, std::size_t step, std::uint8_t* out, std::size_t n);
void median_5_row(const std::uint16_t* const* rows, std::size_t step, std::uint16_t* out, std::size_t n);
void median_5_row(const float* const* rows, std::size_t step, float* out, std::size_t n);

}  // namespace ridge::image
