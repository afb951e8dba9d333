// Medians of 3x3 and 5x5, a row at a time.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::image {

// out[i] = the median over 3x3 pixels around value i, `wide` values of `step` channels. The rows are an image's own;
// what lies beyond their ends, a pixel of each, comes apart. Exactly the rows are read and written.
template <class T>
struct MedianRow {
  const T* rows[3];
  const T* ahead;  // a row that will be read next, to be fetched meanwhile
  T before[3][4], behind[3][4];
  std::size_t step, wide;
  T* out;
  bool past;  // stored past the caches: `out` is aligned to 64 bytes
};
// Bytes of a strip, and of sorted columns of it with those around it.
inline constexpr std::size_t kMedianStrip = 4096, kMedianMargin = 128, kMedianStride = kMedianStrip + 2 * kMedianMargin;
inline constexpr std::size_t kMedianColumns = 3 * kMedianStride;
void median_3_row(const MedianRow<std::uint8_t>& row, std::uint8_t* columns);
void median_3_row(const MedianRow<std::uint16_t>& row, std::uint16_t* columns);
void median_3_row(const MedianRow<float>& row, float* columns);

// Of 5x5: the rows have two pixels beyond their ends, and buffers may be read and written a vector beyond n.
void median_5_row(const std::uint8_t* const* rows, std::size_t step, std::uint8_t* out, std::size_t n);
void median_5_row(const std::uint16_t* const* rows, std::size_t step, std::uint16_t* out, std::size_t n);
void median_5_row(const float* const* rows, std::size_t step, float* out, std::size_t n);

}  // namespace ridge::image
