// Weights of the search, from float multiply-adds only, which round equally on every back end. With a fixed order of
// sums, every back end's search gives the same bits.
#pragma once
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>

#include "image/flow/constants.hpp"

namespace ridge::image::flow {

// exp(-x / (2 sigma^2)) = 2^(x * slope)
inline float slope_of(double sigma) { return static_cast<float>(-1.4426950408889634 / (2.0 * sigma * sigma)); }

// 2^t for -126 <= t <= 0, relative error 2e-7. Adding 1.5 * 2^23 rounds t and leaves the integer part in the low bits.
inline float power_of_two(float t) {
  const float z = t + kRounder, f = t - (z - kRounder);
  float p = kExp2[0];
  for (int k = 1; k < 6; ++k) p = std::fma(f, p, kExp2[k]);
  return std::bit_cast<float>(std::bit_cast<std::uint32_t>(p) + (std::bit_cast<std::uint32_t>(z) << 23));
}

struct SearchWeights {
  float color_slope, space_slope;
  SearchWeights(double sigma_dist, double sigma_color)
      : color_slope(slope_of(sigma_color)), space_slope(slope_of(sigma_dist)) {}
  // Weight of the window cell (dy, dx) from the pixel, with squared colour difference `squares`.
  float at(int squares, int dy, int dx) const {
    const float space = static_cast<float>(dy * dy + dx * dx) * space_slope;
    return power_of_two(std::max(std::fma(static_cast<float>(squares), color_slope, space), kLeastExponent));
  }
};

}  // namespace ridge::image::flow
