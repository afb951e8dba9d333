// Inner loops of normalization, boxcar filters and beams, with the best instruction set of this processor.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>

namespace ridge::search {

// Normalized bytes have this mean and standard deviation: -6 to +19.5 sigma fit, and rounding adds 0.08 % of variance.
inline constexpr int kByteMean = 60;
inline constexpr float kByteSigma = 10;

struct RowKernels {
  void (*from_bytes)(const std::uint8_t* in, float* out, std::size_t count);
  // sum[c] += x[c] - reference[c], square[c] += (x[c] - reference[c])^2.
  void (*accumulate)(const float* x, const float* reference, float* sum, float* square, std::size_t count);
  // out[c] = x[c] * scale[c] + offset[c], rounded and limited to 0 ... 255.
  void (*quantize)(const float* x, const float* scale, const float* offset, std::uint8_t* out, std::size_t count);
  // Adds pairs of normalized bytes; the sums keep mean and standard deviation.
  void (*halve)(const std::uint8_t* in, std::uint8_t* out, std::size_t count);
  // Largest prefix[t + width] - prefix[t] for t < count.
  float (*largest_sum)(const float* prefix, std::size_t width, std::size_t count);
  // Sum of x - reference and of its squares.
  void (*moments)(const float* x, float reference, std::size_t count, float* sum, float* square);
};

const RowKernels& row_kernels();

// Weighted sums of stations for a tile of times, with the best instruction set of this processor.

inline constexpr std::size_t kBeamTile = 64;  // times

// real, imaginary: stations x kBeamTile. Sets sums[t] = sum over stations of weight * sample.
using BeamSums = void (*)(const float* real, const float* imaginary, const std::complex<float>* weights,
                          std::size_t stations, float* sum_real, float* sum_imaginary);
BeamSums beam_sums();

// The same of bytes. `quads`: (stations + 1) / 2 x kBeamTile x 4 bytes, the real and imaginary parts of two stations,
// each plus 128. Sets power[t] = |sum|^2; the sums are exact.
struct ByteFactors {                         // of two stations
  std::int32_t real, imaginary, negative;    // two 16-bit integers: the real parts, the imaginary parts, these negative
  std::int32_t real_bytes, imaginary_bytes;  // four bytes: (real, -imaginary) twice, (imaginary, real) twice
};
using BytePower = void (*)(const std::uint8_t* quads, const ByteFactors* weights, std::size_t pairs, float* power);
BytePower byte_power();
BytePower byte_power_of_words();  // without the byte instructions of AVX-512 VNNI

}  // namespace ridge::search
