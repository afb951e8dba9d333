#include <algorithm>
#include <cmath>

#include "image/operators/settings.hpp"

namespace ridge::image {

void cubic_weights(double x, double weights[4]) {
  constexpr double a = -0.75;
  weights[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
  weights[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
  weights[2] = ((a + 2) * (1 - x) - (a + 3)) * (1 - x) * (1 - x) + 1;
  weights[3] = 1 - weights[0] - weights[1] - weights[2];
}

std::vector<ResizeTap> resize_taps(std::size_t from, std::size_t to, Interpolation interpolation) {
  const double scale = static_cast<double>(from) / static_cast<double>(to);
  std::vector<ResizeTap> taps(to);
  for (std::size_t i = 0; i < to; ++i) {
    ResizeTap& tap = taps[i];
    const double at = (static_cast<double>(i) + 0.5) * scale - 0.5, whole = std::floor(at), x = at - whole;
    // Where it grows the image, area is bilinear.
    if (interpolation == Interpolation::nearest) {
      tap.from = static_cast<std::ptrdiff_t>(i * from / to);  // 49 of 98 from 2 is 1; 49 * (2.0 / 98) is less
      tap.weights = {1};
    } else if (interpolation == Interpolation::bicubic) {
      tap.from = static_cast<std::ptrdiff_t>(whole) - 1;
      tap.weights.resize(4);
      cubic_weights(x, tap.weights.data());
    } else if (interpolation == Interpolation::bilinear || scale <= 1) {
      tap.from = static_cast<std::ptrdiff_t>(whole);
      tap.weights = {1 - x, x};
    } else {
      const double begin = static_cast<double>(i) * scale, end = std::min(begin + scale, static_cast<double>(from));
      tap.from = static_cast<std::ptrdiff_t>(std::floor(begin));
      for (std::ptrdiff_t k = tap.from; static_cast<double>(k) < end - 1e-9; ++k) {
        const double low = std::max(begin, static_cast<double>(k)), high = std::min(end, static_cast<double>(k) + 1);
        tap.weights.push_back((high - low) / (end - begin));
      }
    }
  }
  return taps;
}

}  // namespace ridge::image
