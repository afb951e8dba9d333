// Vectorized row kernels for pixels in their own type. Outputs are not written beyond their last value.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::image {

void gray_row(const std::uint8_t* in, std::size_t channels, std::size_t n, std::uint8_t* out);
void gray_row(const std::uint16_t* in, std::size_t channels, std::size_t n, std::uint16_t* out);
void gray_row(const float* in, std::size_t channels, std::size_t n, float* out);

// Means of 2x2 pixels of two rows; n output pixels.
void downscale_row(const std::uint8_t* upper, const std::uint8_t* lower, std::size_t channels, std::size_t n,
                   std::uint8_t* out);
void downscale_row(const std::uint16_t* upper, const std::uint16_t* lower, std::size_t channels, std::size_t n,
                   std::uint16_t* out);
void downscale_row(const float* upper, const float* lower, std::size_t channels, std::size_t n, float* out);

// Vertical pass of a pyramid level with 1, 3 or 4 channels: n sums of each channel's even columns, then n of each
// channel's odd columns; channels are `stride` apart. Rows may be read 64 pixels beyond 2 n.
void pyramid_down(const std::uint8_t* const* rows, std::size_t channels, std::size_t n, std::uint16_t* sums,
                  std::size_t stride);
// Horizontal pass: reads even columns from sums[-1] on; n output pixels.
void pyramid_across(const std::uint16_t* sums, std::size_t channels, std::size_t stride, std::size_t n,
                    std::uint8_t* out);

// The same for one channel of floats: n sums of five rows, then n results. The horizontal pass reads from sums[-2] to a
// vector beyond sums[2 n + 1].
void pyramid_down(const float* const* rows, std::size_t n, float* sums);
void pyramid_across(const float* sums, std::size_t n, float* out);

// Moves a vertical window down by one row: adds `comes` and subtracts `goes`, which may be null.
void follow_row(std::uint16_t* sums, const std::uint8_t* comes, const std::uint8_t* goes, std::size_t n);
// out[i] = sum of in[i + k * step] for k < count. Reads and writes whole vectors, up to 64 values beyond n.
void window_row(const std::uint16_t* in, std::size_t step, std::size_t count, std::size_t n, std::uint16_t* out);
void window_row(const std::uint16_t* in, std::size_t step, std::size_t count, std::size_t n, std::uint32_t* out);

// Sums times a factor, rounded half to even.
void mean_row(const std::uint16_t* sums, float factor, std::size_t n, std::uint8_t* out);
void mean_row(const std::uint32_t* sums, float factor, std::size_t n, std::uint8_t* out);

// One row of an integral image: out = above + prefix sums of `in` per channel, for n pixels.
void sum_row(const std::uint8_t* in, std::size_t n, std::size_t channels, const std::uint32_t* above,
             std::uint32_t* out);
void sum_row(const std::uint16_t* in, std::size_t n, std::size_t channels, const double* above, double* out);
void sum_row(const float* in, std::size_t n, std::size_t channels, const double* above, double* out);

// Copies with non-temporal stores on x86, otherwise a plain copy. finish_nontemporal_stores() makes the stores visible
// to other threads.
#if defined(__x86_64__)
inline constexpr bool kNontemporalStores = true;
#else
inline constexpr bool kNontemporalStores = false;
#endif
void store_nontemporal(const void* from, std::size_t bytes, std::byte* to);
void finish_nontemporal_stores();

// Transposes `down` x `across` blocks of pixels of `bytes` (1, 2, 3, 4 or 8) each. Blocks have 16 / bytes pixels per
// side, or 16 for 3 bytes.
void transpose_blocks(const std::byte* in, std::size_t in_pitch, std::size_t down, std::size_t across, std::byte* out,
                      std::ptrdiff_t out_pitch, std::size_t bytes);

}  // namespace ridge::image
