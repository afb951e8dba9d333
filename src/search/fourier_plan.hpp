// Dedispersion in the Fourier domain: delays are phases, so they are not rounded to samples.
//
// With X_c the spectrum of channel c over n samples, the spectrum of a trial of delay tau is
//   Y[k] = sum over c of X_c[k] exp(2 pi i u s_c),  u = k tau / n,  s_c = share of the delay, 0 to 1.
// For each k this is a sum over nonuniform points s_c at nonuniform frequencies u. It is evaluated in three steps: the
// channels are spread onto a grid of s with a short kernel, the grid is transformed to equally spaced u, and the trials
// are interpolated from there with the same kernel. That takes O(channels + grid log grid + trials) operations per k
// instead of channels x trials.
#pragma once
#include <complex>
#include <cstdint>
#include <vector>

#include "search/layout.hpp"

namespace ridge::search {

inline constexpr std::size_t kTaps = 6;            // of the kernel: relative error 1e-5
inline constexpr std::size_t kKernelSteps = 1024;  // of the kernel's table, between two grid points
inline constexpr int kPositionBits = 40;           // fraction bits of a position on the grid of u

struct FourierTables {
  std::size_t length = 0;                         // n: the row and zeros after it, even, with factors 2, 3, 5
  std::size_t grid = 0;                           // points of s, over [0, 2)
  std::int64_t middle = 0;                        // u = (point + middle) / 2 for points -grid/2 to grid/2
  std::vector<std::uint32_t> cell = {};           // per channel: first grid point of its taps
  std::vector<std::complex<float>> weight = {};   // channels x kTaps
  std::vector<std::complex<double>> factor = {};  // per point of u, after the transform
  std::vector<float> kernel = {};                 // (kKernelSteps + 1) x kTaps
  std::vector<std::uint64_t> step = {};           // per trial: grid points of u per k, in 2^-kPositionBits
  std::size_t bins() const { return length / 2 + 1; }
};

FourierTables fourier_tables(const Layout& layout);

std::size_t fourier_length(const Layout& layout);
std::size_t fourier_grid(const Layout& layout);
double fourier_flops(const Layout& layout);
std::string fourier_refusal(const Layout& layout);  // empty: the sizes are possible

// Mean of a channel's row. It is subtracted from the row, so that the zeros after the row continue it without a step.
float row_mean(const std::uint8_t* row, std::size_t count);

}  // namespace ridge::search
