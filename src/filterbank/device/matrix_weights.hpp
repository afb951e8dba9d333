// Weights as the matrix units want them: each as a sum of two half-precision numbers, in pairs along time.
#pragma once
#include <complex>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "filterbank/device/design.hpp"

namespace ridge::filterbank::on_device {

// Rows of history that 8 spectra need, in eights.
inline std::size_t matrix_history(std::size_t taps) { return (taps - 1 + 7) / 8 * 8; }

// Pairs of words of a channel, one of upper halves and one of lower: pair e has the weights taps - e and taps - e - 1
// (0 outside 0 .. taps - 1), e = -1 .. taps + 1.
inline std::size_t matrix_words(std::size_t taps) { return taps + 3; }

// The same, as if there were as many taps as rows of history: e = 0 .. rows - 1, where pair 0 has the weights 0 and
// rows - 1 at its ends. Of a pair of rows a lane has the weights either in the first eight of them or in the last, so
// both are one pair of words and a mask. 0: for taps that do not fit it or would have more words, and kernels that do
// not know it.
inline std::size_t round_words(const KernelDesign& design) {
  const std::size_t taps = design.geometry.taps, history = matrix_history(taps);
  if (design.fir == Fir::stacked) return 16;
  return design.fir == Fir::warp_specialized && taps <= history && history <= matrix_words(taps) ? history : 0;
}

struct MatrixWeights {
  std::vector<std::uint32_t> words;
  std::vector<std::complex<float>> tables;  // roots behind the first butterflies, times what undoes the weights' scale
};
MatrixWeights matrix_weights(const KernelDesign& design, std::span<const double> prototype);

// Two halves whose sum is a value to 22 bits, the upper one first.
std::pair<std::uint16_t, std::uint16_t> two_halves(double value);

}  // namespace ridge::filterbank::on_device
