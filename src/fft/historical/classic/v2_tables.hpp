// What CPU version 2 (v2.cpp) is given, whatever its vectors are.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fft/historical/classic/classic.hpp"

namespace ridge::fft::classic {

// Where each of the 2 * lanes values of a then b comes from, before stage 1, 2, ... of the fused ones.
inline std::vector<std::size_t> exchange_before(std::size_t stage, RegisterLayout layout, std::size_t lanes) {
  std::vector<std::size_t> source(2 * lanes);
  for (std::size_t p = 0; p < 2 * lanes; ++p) {
    const std::size_t lane = p % lanes, in_b = p / lanes;
    if (layout == RegisterLayout::constant_geometry) {
      source[p] = lane % 2 * lanes + in_b * (lanes / 2) + lane / 2;
    } else {
      const std::size_t bit = lanes >> stage, set = (lane & bit) != 0 ? 1 : 0;
      source[p] = set * lanes + (lane & ~bit) + in_b * bit;
    }
  }
  return source;
}

template <class T>
struct V2Tables {
  std::vector<std::complex<T>> wide;  // one a block, stages 1, 2, 4, ... one after the other
  std::vector<T> fused;               // of each block, of each fused stage: `lanes` real parts, `lanes` imaginary ones
  std::vector<std::uint32_t> output;  // the frequency each of the 2 * lanes values ends as
};

}  // namespace ridge::fft::classic
