// Orders the axes of a box so that the least data pass between them.
#include "fft/box_order.hpp"

#include <algorithm>

namespace ridge::fft {
namespace {

double points_of(const std::vector<BoxAxis>& axes) {
  double points = 0;
  for (const BoxAxis& one : axes) {
    points += static_cast<double>(one.lines(1)) * static_cast<double>(one.length) * (one.kind == Kind::real ? 0.5 : 1);
  }
  return points;
}

}  // namespace

std::size_t BoxAxis::lines(std::size_t batch) const {
  std::size_t count = batch;
  for (std::size_t other = 0; other < kMostAxes; ++other) count *= other == axis ? 1 : from[other];
  return count;
}

std::vector<BoxAxis> ordered_axes(const Problem& problem, const Layout& layout, Direction direction, bool rows_last) {
  const bool forward = direction == Direction::forward, real = problem.kind == Kind::real;
  const auto& read = forward ? layout.given : layout.wanted;
  const auto& written = forward ? layout.wanted : layout.given;
  const std::size_t last = layout.axes - 1;
  std::vector<std::size_t> free;  // in ascending order
  for (std::size_t axis = 0; axis < layout.axes; ++axis) {
    if (real ? axis != last && problem.shape[axis] > 1 : problem.shape[axis] > 1) free.push_back(axis);
  }
  if (!real && free.empty()) free.push_back(last);
  std::vector<BoxAxis> best;
  do {
    std::vector<std::size_t> order(free.rbegin(), free.rend());
    if (real) order.insert(forward ? order.begin() : order.end(), last);
    std::vector<BoxAxis> axes;
    std::array<std::size_t, kMostAxes> shape{1, 1, 1};
    for (std::size_t i = 0; i < layout.axes; ++i) shape[i] = read[i].count;
    for (const std::size_t axis : order) {
      BoxAxis one{.axis = axis,
                  .length = problem.shape[axis],
                  .kind = real && axis == last ? Kind::real : Kind::complex,
                  .read = read[axis],
                  .written = written[axis],
                  .from = shape};
      shape[axis] = written[axis].count;
      one.to = shape;
      axes.push_back(one);
    }
    const double points = points_of(axes), least = best.empty() ? points + 1 : points_of(best);
    if (points < least || (points == least && rows_last && std::ranges::is_sorted(order))) best = std::move(axes);
  } while (std::next_permutation(free.begin(), free.end()));
  return best;
}

double share_of_points(const std::vector<BoxAxis>& axes, const Problem& problem) {
  double whole = 0, all = 1;
  for (const std::size_t n : problem.shape) all *= static_cast<double>(n);
  for (const BoxAxis& one : axes) whole += all * (problem.kind == Kind::real || one.kind == Kind::real ? 0.5 : 1);
  return points_of(axes) / whole;
}

Side packed_side(const std::array<std::size_t, kMostAxes>& shape) {
  Side side{.shape = shape};
  std::size_t packed = 1;
  for (std::size_t axis = kMostAxes; axis-- > 0; packed *= shape[axis]) side.strides[axis] = packed;
  side.batch = side.extent = packed;
  return side;
}

}  // namespace ridge::fft
