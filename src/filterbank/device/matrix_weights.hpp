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

// The same for `stacked`, as if there were 16 taps: e = 0 .. 15, where pair 0 has the weights 0 and 15 at its ends.
inline constexpr std::size_t kStackedWords = 16;

struct MatrixWeights {
  std::vector<std::uint32_t> words;
  std::vector<std::complex<float>> tables;  // roots behind the first butterflies, times what undoes the weights' scale
};
MatrixWeights matrix_weights(const KernelDesign& design, std::span<const double> prototype);

// Two halves whose sum is a value to 22 bits, the upper one first.
std::pair<std::uint16_t, std::uint16_t> two_halves(double value);

}  // namespace ridge::filterbank::on_device
