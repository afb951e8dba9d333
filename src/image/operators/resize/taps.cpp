// Source pixels and weights of each output row and column of a resize.
#include "image/operators/resize/taps.hpp"

#include <algorithm>
#include <cmath>

namespace ridge::image {
namespace {

struct Axis {
  std::size_t from = 1, to = 1;
  double scale = 1, step = 1;  // output pixels per source pixel, and the inverse
};

// OpenCV keeps a given scale even if the output size was rounded, and it divides twice.
Axis axis_of(const Resize& o, std::size_t given, std::size_t from, std::size_t to) {
  const double m = static_cast<double>(from), n = static_cast<double>(to);
  if (o.like == Like::ridge) return {from, to, n / m, m / n};
  const double scale = given == 0 ? o.scale : n / m;
  return {from, to, scale, 1 / scale};
}

std::ptrdiff_t nearest_pixel(const Resize& o, const Axis& axis, std::size_t i) {
  // Integer arithmetic is exact: 49 * 2 / 98 is 1, but 49 * (2.0 / 98) is below 1.
  if (o.like == Like::ridge) return static_cast<std::ptrdiff_t>(i * axis.from / axis.to);
  return std::min(static_cast<std::ptrdiff_t>(std::floor(static_cast<double>(i) * axis.step)),
                  static_cast<std::ptrdiff_t>(axis.from) - 1);
}

ResizeTap area_tap(const Axis& axis, std::size_t i) {
  const double begin = static_cast<double>(i) * axis.step,
               end = std::min(begin + axis.step, static_cast<double>(axis.from));
  ResizeTap tap{.from = static_cast<std::ptrdiff_t>(std::floor(begin))};
  for (std::ptrdiff_t k = tap.from; static_cast<double>(k) < end - 1e-9; ++k) {
    const double low = std::max(begin, static_cast<double>(k)), high = std::min(end, static_cast<double>(k) + 1);
    tap.weights.push_back((high - low) / (end - begin));
  }
  return tap;
}

// cv::INTER_AREA along an axis that is enlarged: the weight of the second pixel is the part of output pixel i beyond
// the end of source pixel floor(i * step).
ResizeTap opencv_growing_area_tap(const Axis& axis, std::size_t i) {
  const double whole = std::floor(static_cast<double>(i) * axis.step);
  const float beyond = static_cast<float>(static_cast<double>(i) + 1 - (whole + 1) * axis.scale);
  const double share = beyond <= 0 ? 0 : double{beyond - std::floor(beyond)};
  return {.from = static_cast<std::ptrdiff_t>(whole), .weights = {1 - share, share}};
}

std::vector<ResizeTap> taps_along(const Resize& o, const Axis& axis, bool all_shrink) {
  std::vector<ResizeTap> taps(axis.to);
  for (std::size_t i = 0; i < axis.to; ++i) {
    ResizeTap& tap = taps[i];
    const double at = (static_cast<double>(i) + 0.5) * axis.step - 0.5, whole = std::floor(at), x = at - whole;
    const bool shrinks = o.like == Like::opencv ? all_shrink : axis.step > 1;
    if (o.interpolation == Interpolation::nearest) {
      tap = {.from = nearest_pixel(o, axis, i), .weights = {1}};
    } else if (o.interpolation == Interpolation::bicubic) {
      tap.from = static_cast<std::ptrdiff_t>(whole) - 1;
      tap.weights.resize(4);
      cubic_weights(x, tap.weights.data());
    } else if (o.interpolation == Interpolation::area && shrinks) {
      tap = area_tap(axis, i);
    } else if (o.interpolation == Interpolation::area && o.like == Like::opencv) {
      tap = opencv_growing_area_tap(axis, i);
    } else {
      tap = {.from = static_cast<std::ptrdiff_t>(whole), .weights = {1 - x, x}};
    }
  }
  return taps;
}

}  // namespace

void cubic_weights(double x, double weights[4]) {
  constexpr double a = -0.75;
  weights[0] = ((a * (x + 1) - 5 * a) * (x + 1) + 8 * a) * (x + 1) - 4 * a;
  weights[1] = ((a + 2) * x - (a + 3)) * x * x + 1;
  weights[2] = ((a + 2) * (1 - x) - (a + 3)) * (1 - x) * (1 - x) + 1;
  weights[3] = 1 - weights[0] - weights[1] - weights[2];
}

ResizeTaps resize_taps(const Resize& o, const Shape& in) {
  const Shape out = output_shape(o, in);
  if (o.like == Like::opencv && out == in)
    return resize_taps({.scale = 1, .interpolation = o.interpolation}, in);  // a copy
  const Axis down = axis_of(o, o.rows, in.rows, out.rows), across = axis_of(o, o.columns, in.columns, out.columns);
  const bool all_shrink = down.step >= 1 && across.step >= 1;
  return {taps_along(o, down, all_shrink), taps_along(o, across, all_shrink)};
}

}  // namespace ridge::image
