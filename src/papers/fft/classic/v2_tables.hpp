// Tables of CPU version 2 (v2.cpp), for every vector width.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "papers/fft/classic/classic.hpp"

namespace ridge::fft::classic {

// Source of each of the 2 * lanes values of a, then b, before stage 1, 2, ... of the fused stages.
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
  std::vector<std::complex<T>> wide;  // one per block: stages 1, 2, 4, ... concatenated
  std::vector<T> fused;               // per block and fused stage: `lanes` real parts, `lanes` imaginary parts
  std::vector<std::uint32_t> output;  // output frequency of each of the 2 * lanes values
};

}  // namespace ridge::fft::classic
