// What the row-wise operators are made of, a vector of columns at a time.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ridge::image {

// Where a load widens bytes and words. Elsewhere that takes four instructions, and rows that are floats once pay.
#if defined(__x86_64__)
inline constexpr bool kLoadsWiden = true;
#else
inline constexpr bool kLoadsWiden = false;
#endif

// out[i] = the sum over k of weights[k] * from[k][i]: rows above each other, or one row at several offsets.
void weighted_sum(const float* const* from, const float* weights, std::size_t taps, float* out, std::size_t n);
void weighted_sum(const std::uint8_t* const* from, const float* weights, std::size_t taps, float* out, std::size_t n);
void weighted_sum(const std::uint16_t* const* from, const float* weights, std::size_t taps, float* out, std::size_t n);
// out[i] = the sum over k of weights[k] * line[2 i + k].
void weighted_sum_half(const float* line, const float* weights, std::size_t taps, float* out, std::size_t n);
// out[i] = the sum over k of weights[k] * line[i + k].
void weighted_sum_along(const float* line, const float* weights, std::size_t taps, float* out, std::size_t n);
// Four rows: outs[j][i] = the sum over k of weights[k] * rows[j + k][i]; at least four taps. Rows may be read and sums
// written kRowSlack beyond n.
void weighted_sums_down(const std::uint8_t* const* rows, const float* weights, std::size_t taps, float* const* outs,
                        std::size_t n);
void weighted_sums_down(const std::uint16_t* const* rows, const float* weights, std::size_t taps, float* const* outs,
                        std::size_t n);
void weighted_sums_down(const float* const* rows, const float* weights, std::size_t taps, float* const* outs,
                        std::size_t n);
// And across, where neighbours lie `apart`: out[i] = the sum over k of weights[k] * line[i + k * apart], rounded half
// to even and clamped to the depth; nothing is written beyond n.
void weighted_sums_across(const float* line, const float* weights, std::size_t taps, std::size_t apart, std::size_t n,
                          std::uint8_t* out);
void weighted_sums_across(const float* line, const float* weights, std::size_t taps, std::size_t apart, std::size_t n,
                          std::uint16_t* out);
void weighted_sums_across(const float* line, const float* weights, std::size_t taps, std::size_t apart, std::size_t n,
                          float* out);
// outs[j][i] = the sum over k of weights[k * stride + i] * lines[j][places[i] + k]. Tables go on for kRowSlack entries
// behind the last; `span` is how far the places of four neighbours and their taps reach at most.
struct Resampling {
  const std::int32_t* places;
  const float* weights;
  std::size_t taps, stride, span;
};
void resample(const float* const* lines, std::size_t count, const Resampling& table, float* const* outs, std::size_t n);
// The same of rows whose taps lie `apart`, as channels beside each other do, rounded to the depth; lines begin at place
// `origin`. A vector of values is picked from the vector that begins at the least of their places.
struct PickedValues {
  const std::int32_t *places, *firsts;
  const float* weights;
  std::size_t taps, stride, apart;
  std::int32_t origin;
};
inline constexpr std::size_t kResampledRows = 4;  // lines at most
void resample_values(const float* const* lines, std::size_t count, const PickedValues& table, std::uint8_t* const* outs,
                     std::size_t n);
void resample_values(const float* const* lines, std::size_t count, const PickedValues& table,
                     std::uint16_t* const* outs, std::size_t n);
void resample_values(const float* const* lines, std::size_t count, const PickedValues& table, float* const* outs,
                     std::size_t n);
// The least place of each vector of values, and how many they are; 0 where some vector's places do not lie within one.
std::size_t vectors_of_places(const std::int32_t* places, std::size_t n, std::vector<std::int32_t>& firsts);
// Of three rows: their sum by `factors` (three, symmetric), and the last less the first; then, of such
// lines, d/dx and d/dy.
void gradient_down(const float* const* rows, const float* factors, float* smooth, float* apart, std::size_t n);
void gradient_across(const float* smooth, const float* apart, const float* factors, float* x, float* y, std::size_t n);
void add_to(const float* more, float* sums, std::size_t n);
// out[i] = the median over k of from[k][i]; taps is odd and at most 25.
void median_of(const float* const* from, std::size_t taps, float* out, std::size_t n);
// Rounded half to even and clamped to [0, most], still float.
void round_to(float* values, std::size_t n, float most);

// Weighted sums of a bilateral filter's tap: weights exp2(slope * |a - b|^2 + space) over all channels of the guide.
// `absolute`: |a - b| is the sum of the channels' absolute differences, else the Euclidean distance.
struct BilateralTap {
  const float* const* own;    // guide's channels at the pixels
  const float* const* other;  // and at the neighbours
  std::size_t guide_channels;
  const float* const* values;  // of the neighbours
  std::size_t channels;
  float slope, space;
  bool absolute;
  float* const* sums;
  float* total;
};
void bilateral_tap(const BilateralTap& tap, std::size_t n);
// A row of a bilateral filter of 1 or 3 channels that are their own guide: planes of the 2 radius + 1 rows around it,
// channel after channel; space: the exponents by distance, row after row of the window; reach: how far to either side
// each row goes. bytes: the values are of 8 bits, and one channel's exponents stay above -126. absolute: as above.
struct BilateralWindow {
  const float* const* rows;
  const float* space;
  const std::size_t* reach;
  std::size_t radius;
  float slope;
  bool bytes, absolute;
};
void bilateral_row(const BilateralWindow& window, std::size_t channels, float* const* outs, std::size_t n);
void divide(float* values, const float* by, std::size_t n);

// Between pixels and planes: a row of `n` pixels, channels apart by `stride` floats. Packing rounds half to even and
// clamps to the depth.
void unpack(const std::uint8_t* in, std::size_t channels, std::size_t n, float* out, std::size_t stride);
void unpack(const std::uint16_t* in, std::size_t channels, std::size_t n, float* out, std::size_t stride);
void unpack(const float* in, std::size_t channels, std::size_t n, float* out, std::size_t stride);
void pack(const float* in, std::size_t stride, std::size_t channels, std::size_t n, std::uint8_t* out);
void pack(const float* in, std::size_t stride, std::size_t channels, std::size_t n, std::uint16_t* out);
void pack(const float* in, std::size_t stride, std::size_t channels, std::size_t n, float* out);

}  // namespace ridge::image
