// Vectorized row kernels of the row-wise operators, on planes of floats.
#pragma once
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ridge::image {

// True if vector loads can widen 8-bit and 16-bit values. Otherwise widening takes four instructions, and it is faster
// to convert rows to floats once.
#if defined(__x86_64__)
inline constexpr bool kLoadsWiden = true;
#else
inline constexpr bool kLoadsWiden = false;
#endif

// out[i] = sum over k of weights[k] * from[k][i]; `from` are several rows, or one row at several offsets.
void weighted_sum(const float* const* from, const float* weights, std::size_t taps, float* out, std::size_t n);
void weighted_sum(const std::uint8_t* const* from, const float* weights, std::size_t taps, float* out, std::size_t n);
void weighted_sum(const std::uint16_t* const* from, const float* weights, std::size_t taps, float* out, std::size_t n);
// out[i] = the sum over k of weights[k] * line[2 i + k].
void weighted_sum_half(const float* line, const float* weights, std::size_t taps, float* out, std::size_t n);
// out[i] = the sum over k of weights[k] * line[i + k].
void weighted_sum_along(const float* line, const float* weights, std::size_t taps, float* out, std::size_t n);
// Four rows at once: outs[j][i] = sum over k of weights[k] * rows[j + k][i], with at least four taps. Rows may be read
// and sums written kRowSlack values beyond n.
void weighted_sums_down(const std::uint8_t* const* rows, const float* weights, std::size_t taps, float* const* outs,
                        std::size_t n);
void weighted_sums_down(const std::uint16_t* const* rows, const float* weights, std::size_t taps, float* const* outs,
                        std::size_t n);
void weighted_sums_down(const float* const* rows, const float* weights, std::size_t taps, float* const* outs,
                        std::size_t n);
// Horizontal pass: out[i] = sum over k of weights[k] * line[i + k * apart], rounded half to even and clamped to the
// depth. Nothing is written beyond n.
void weighted_sums_across(const float* line, const float* weights, std::size_t taps, std::size_t apart, std::size_t n,
                          std::uint8_t* out);
void weighted_sums_across(const float* line, const float* weights, std::size_t taps, std::size_t apart, std::size_t n,
                          std::uint16_t* out);
void weighted_sums_across(const float* line, const float* weights, std::size_t taps, std::size_t apart, std::size_t n,
                          float* out);
// outs[j][i] = sum over k of weights[k * stride + i] * lines[j][places[i] + k]. Tables continue for kRowSlack entries
// after the last; `span` is the largest extent of the taps of four neighbouring results.
struct Resampling {
  const std::int32_t* places;
  const float* weights;
  std::size_t taps, stride, span;
};
void resample(const float* const* lines, std::size_t count, const Resampling& table, float* const* outs, std::size_t n);
// The same for interleaved channels: taps are `apart` values from each other, results are rounded to the depth, and
// lines begin at position `origin`. `firsts` holds the smallest position of each vector of results.
struct PickedValues {
  const std::int32_t *places, *firsts;
  const float* weights;
  std::size_t taps, stride, apart;
  std::int32_t origin;
};
inline constexpr std::size_t kResampledRows = 4;  // maximum number of lines
void resample_values(const float* const* lines, std::size_t count, const PickedValues& table, std::uint8_t* const* outs,
                     std::size_t n);
void resample_values(const float* const* lines, std::size_t count, const PickedValues& table,
                     std::uint16_t* const* outs, std::size_t n);
void resample_values(const float* const* lines, std::size_t count, const PickedValues& table, float* const* outs,
                     std::size_t n);
// Writes the smallest position of each vector to `firsts` and returns the vector length, or 0 if the positions of some
// vector span more than one vector.
std::size_t vectors_of_places(const std::int32_t* places, std::size_t n, std::vector<std::int32_t>& firsts);
// Vertical pass of a gradient: sum of three rows weighted by `factors` (symmetric), and last row minus first row.
// Horizontal pass: d/dx and d/dy from these lines.
void gradient_down(const float* const* rows, const float* factors, float* smooth, float* apart, std::size_t n);
void gradient_across(const float* smooth, const float* apart, const float* factors, float* x, float* y, std::size_t n);
void add_to(const float* more, float* sums, std::size_t n);
// out[i] = median over k of from[k][i]; taps is odd and at most 25.
void median_of(const float* const* from, std::size_t taps, float* out, std::size_t n);
// Rounds half to even and clamps to [0, most]; the results remain floats.
void round_to(float* values, std::size_t n, float most);

// Adds one tap of a bilateral filter with weight exp2(slope * |a - b|^2 + space) over all channels of the guide.
// `absolute`: |a - b| is the sum of the channels' absolute differences, else the Euclidean distance.
struct BilateralTap {
  const float* const* own;    // guide's channels at the pixels
  const float* const* other;  // guide's channels at the neighbours
  std::size_t guide_channels;
  const float* const* values;  // image's channels at the neighbours
  std::size_t channels;
  float slope, space;
  bool absolute;
  float* const* sums;
  float* total;
};
void bilateral_tap(const BilateralTap& tap, std::size_t n);
// One row of a bilateral filter with 1 or 3 channels that are their own guide. rows: planes of the 2 radius + 1 rows
// around it, channel by channel. space: exponents by distance, row by row of the window. reach: columns on either side
// per row. bytes: 8-bit values; with one channel all exponents stay above -126. absolute: as in BilateralTap.
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

// Conversion between a row of `n` interleaved pixels and planes that are `stride` floats apart. Packing rounds half to
// even and clamps to the depth.
void unpack(const std::uint8_t* in, std::size_t channels, std::size_t n, float* out, std::size_t stride);
void unpack(const std::uint16_t* in, std::size_t channels, std::size_t n, float* out, std::size_t stride);
void unpack(const float* in, std::size_t channels, std::size_t n, float* out, std::size_t stride);
void pack(const float* in, std::size_t stride, std::size_t channels, std::size_t n, std::uint8_t* out);
void pack(const float* in, std::size_t stride, std::size_t channels, std::size_t n, std::uint16_t* out);
void pack(const float* in, std::size_t stride, std::size_t channels, std::size_t n, float* out);

}  // namespace ridge::image
