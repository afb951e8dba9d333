// Weights of a half spectrum: the number of values of the whole spectrum that each stored value represents.
#pragma once
#include <cstddef>
#include <vector>

namespace ridge::fft {

// 1 at frequency 0 and, for even n, at n/2; 2 elsewhere. n is the length of the real samples.
inline std::vector<double> half_spectrum_weights(std::size_t n) {
  std::vector<double> weights(n / 2 + 1, 2.0);
  weights.front() = 1;
  if (n % 2 == 0) weights.back() = 1;
  return weights;
}

}  // namespace ridge::fft
