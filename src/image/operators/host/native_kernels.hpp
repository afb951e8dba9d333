// Rows of pixels in their own type, a vector at a time. Outputs are written to their last value and not beyond.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::image {

void gray_row(const std::uint8_t* in, std::size_t channels, std::size_t n, std::uint8_t* out);
void gray_row(const std::uint16_t* in, std::size_t channels, std::size_t n, std::uint16_t* out);
void gray_row(const float* in, std::size_t channels, std::size_t n, float* out);

// Means of 2x2 pixels of two rows; n of the output.
void downscale_row(const std::uint8_t* upper, const std::uint8_t* lower, std::size_t channels, std::size_t n,
                   std::uint8_t* out);
void downscale_row(const std::uint16_t* upper, const std::uint16_t* lower, std::size_t channels, std::size_t n,
                   std::uint16_t* out);
void downscale_row(const float* upper, const float* lower, std::size_t channels, std::size_t n, float* out);

// The pyramid's weights down five rows of 1, 3 or 4 channels: n sums of the even columns of each channel, and n of the
// odd ones behind them all; channels are `stride` apart. Rows may be read 64 pixels beyond 2 n.
void pyramid_down(const std::uint8_t* const* rows, std::size_t channels, std::size_t n, std::uint16_t* sums,
                  std::size_t stride);
// And across: even columns from sums[-1] on; n pixels of the output.
void pyramid_across(const std::uint16_t* sums, std::size_t channels, std::size_t stride, std::size_t n,
                    std::uint8_t* out);

// The same of one channel of floats: n sums of five rows; and n of the output, which reads sums[-2] to sums[2 n + 1 + a
// vector].
void pyramid_down(const float* const* rows, std::size_t n, float* sums);
void pyramid_across(const float* sums, std::size_t n, float* out);

// What a window down the columns holds when it moves on by a row; nothing `goes` at first (null).
void follow_row(std::uint16_t* sums, const std::uint8_t* comes, const std::uint8_t* goes, std::size_t n);
// out[i] = the sum of in[i + k step] for k below count; whole vectors are read and written, up to 64 values beyond.
void window_row(const std::uint16_t* in, std::size_t step, std::size_t count, std::size_t n, std::uint16_t* out);
void window_row(const std::uint16_t* in, std::size_t step, std::size_t count, std::size_t n, std::uint32_t* out);

// Sums times a factor, halves to even.
void mean_row(const std::uint16_t* sums, float factor, std::size_t n, std::uint8_t* out);
void mean_row(const std::uint32_t* sums, float factor, std::size_t n, std::uint8_t* out);

// Of n pixels: each above it and the sum of all up to it, a channel at a time.
void sum_row(const std::uint8_t* in, std::size_t n, std::size_t channels, const std::uint32_t* above,
             std::uint32_t* out);
void sum_row(const std::uint16_t* in, std::size_t n, std::size_t channels, const double* above, double* out);
void sum_row(const float* in, std::size_t n, std::size_t channels, const double* above, double* out);

// Bytes stored past the caches, and their end: what other threads may rely on. Elsewhere than on x86 a plain copy.
#if defined(__x86_64__)
inline constexpr bool kStoresPast = true;
#else
inline constexpr bool kStoresPast = false;
#endif
void store_past(const void* from, std::size_t bytes, std::byte* to);
void end_stores_past();

// `down` x `across` blocks of pixels of `bytes` (1, 2, 3, 4, 8) each, 16 / bytes on a side (16 where they are 3),
// turned about their diagonal.
void transpose_blocks(const std::byte* in, std::size_t in_pitch, std::size_t down, std::size_t across, std::byte* out,
                      std::ptrdiff_t out_pitch, std::size_t bytes);

}  // namespace ridge::image
