// Weighted sums of stations for a tile of times, with the best instruction set of this processor.
#pragma once
#include <complex>
#include <cstddef>

namespace ridge::search {

inline constexpr std::size_t kBeamTile = 64;  // times

// real, imaginary: stations x kBeamTile. Sets sums[t] = sum over stations of weight * sample.
using BeamSums = void (*)(const float* real, const float* imaginary, const std::complex<float>* weights,
                          std::size_t stations, float* sum_real, float* sum_imaginary);
BeamSums beam_sums();

}  // namespace ridge::search
