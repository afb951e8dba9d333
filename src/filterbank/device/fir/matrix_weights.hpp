// Weights for the matrix units: each is a sum of two float16 numbers, stored in pairs along time.
#pragma once
#include <cstdint>
#include <span>
#include <utility>

#include "filterbank/device/fir/fir.hpp"

namespace ridge::filterbank::on_device {

// Rows of history that 8 spectra need, rounded up to a multiple of 8.
inline std::size_t matrix_history(std::size_t taps) { return (taps - 1 + 7) / 8 * 8; }

// Word pairs per channel, one word of upper and one of lower float16 parts. Pair e holds the weights taps - e and taps
// - e - 1 (0 outside 0 .. taps - 1), e = -1 .. taps + 1.
inline std::size_t matrix_words(std::size_t taps) { return taps + 3; }

struct MatrixLayout {
  // Word pairs per channel in the cyclic layout, as if there were as many taps as rows of history: e = 0 .. rows - 1,
  // where pair 0 holds the weights 0 and rows - 1. For the first and last 8 rows, a lane needs weights in only one of
  // them, so one pair of words and a mask serve both. 0: the layout of matrix_words().
  std::size_t cyclic_words = 0;
  std::size_t first_points = 16;  // points of the first butterflies
  int exponent = 0;               // the kernel scales samples by 2^-exponent
};

// Weights scaled for float16, and the twiddle factors after the first butterflies, times the inverse scale.
FirWeights matrix_weights(const Geometry& geometry, const MatrixLayout& layout, std::span<const double> prototype);

// Samples, order and sizes that `matrix` and `warp_specialized` support.
bool supports_matrix(const Geometry& geometry);

// Splits a value into two float16 numbers whose sum has 22 significant bits, the larger one first.
std::pair<std::uint16_t, std::uint16_t> split_float16(double value);

}  // namespace ridge::filterbank::on_device
