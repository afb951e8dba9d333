// Boxes of a grid: intersection, and division into slabs, pencils and bricks.
#include <ridge/mpi/box.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <ridge/error.hpp>

namespace ridge::mpi {
namespace {

[[noreturn]] void mistake(const std::string& what) { throw Error(ErrorKind::invalid_argument, what); }

std::size_t extent_of(const Shape& shape, std::size_t axis) { return axis < shape.size() ? shape[axis] : 1; }

Box whole_box(const Shape& shape) {
  Box box;
  for (std::size_t axis = 0; axis < 3; ++axis) box.end[axis] = extent_of(shape, axis);
  return box;
}

void cut(Box& box, std::size_t axis, std::size_t n, std::size_t i, std::size_t p) {
  const Part share = part(n, i, p);
  box.begin[axis] = share.begin;
  box.end[axis] = share.end;
}

}  // namespace

std::array<std::size_t, 3> Box::strides() const {
  std::array<std::size_t, 3> result{};
  std::size_t stride = 1;
  for (std::size_t i = 3; i-- > 0;) {
    result[static_cast<std::size_t>(order[i])] = stride;
    stride *= extent(static_cast<std::size_t>(order[i]));
  }
  return result;
}

std::string to_string(const Box& box) {
  std::string text;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    text += fmt::format("{}[{},{})", axis == 0 ? "" : " x ", box.begin[axis], box.end[axis]);
  }
  return text;
}

Box intersection(const Box& a, const Box& b) {
  Box result{{}, {}, a.order};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    result.begin[axis] = std::max(a.begin[axis], b.begin[axis]);
    result.end[axis] = std::max(result.begin[axis], std::min(a.end[axis], b.end[axis]));
  }
  return result;
}

Part part(std::size_t n, std::size_t i, std::size_t p) {
  const std::size_t each = n / p, more = n % p;  // n * i / p would overflow
  const auto before = [&](std::size_t k) { return each * k + more * k / p; };
  return {before(i), before(i + 1)};
}

std::vector<Box> slabs(const Shape& shape, std::size_t processes, std::size_t axis) {
  if (axis >= shape.size()) mistake(fmt::format("slabs along axis {} of {} axes", axis, shape.size()));
  std::vector<Box> boxes(processes, whole_box(shape));
  for (std::size_t rank = 0; rank < processes; ++rank) cut(boxes[rank], axis, shape[axis], rank, processes);
  return boxes;
}

std::vector<Box> pencils(const Shape& shape, std::size_t rows, std::size_t columns, std::size_t whole) {
  if (whole >= 3) mistake("pencils along an axis beyond the third");
  const std::size_t slow = whole == 0 ? 1 : 0, fast = whole == 2 ? 1 : 2;
  std::vector<Box> boxes(rows * columns, whole_box(shape));
  for (std::size_t rank = 0; rank < boxes.size(); ++rank) {
    cut(boxes[rank], slow, extent_of(shape, slow), rank / columns, rows);
    cut(boxes[rank], fast, extent_of(shape, fast), rank % columns, columns);
  }
  return boxes;
}

std::vector<Box> bricks(const Shape& shape, std::size_t processes) {
  // Chooses the process grid whose largest brick has the least surface. Ties cut the slower axes first.
  std::array<std::size_t, 3> best{processes, 1, 1};
  double least = INFINITY;
  for (std::size_t a = processes; a > 0; --a) {
    if (processes % a != 0) continue;
    for (std::size_t b = processes / a; b > 0; --b) {
      if (processes / a % b != 0) continue;
      const std::array<std::size_t, 3> grid{a, b, processes / a / b};
      std::array<double, 3> side{};
      for (std::size_t axis = 0; axis < 3; ++axis) {
        side[axis] = std::ceil(static_cast<double>(extent_of(shape, axis)) / static_cast<double>(grid[axis]));
      }
      const double surface = side[0] * side[1] + side[1] * side[2] + side[0] * side[2] +
                             1e-3 * side[0] * side[1] * side[2];  // leaves no process idle
      if (surface >= least) continue;
      least = surface;
      best = grid;
    }
  }
  std::vector<Box> boxes(processes, whole_box(shape));
  for (std::size_t rank = 0; rank < processes; ++rank) {
    cut(boxes[rank], 0, extent_of(shape, 0), rank / (best[1] * best[2]), best[0]);
    cut(boxes[rank], 1, extent_of(shape, 1), rank / best[2] % best[1], best[1]);
    cut(boxes[rank], 2, extent_of(shape, 2), rank % best[2], best[2]);
  }
  return boxes;
}

void must_tile(const Shape& shape, const std::vector<Box>& boxes, const std::string& what) {
  if (shape.empty() || shape.size() > 3) mistake(fmt::format("{}: a shape has one to three axes", what));
  std::size_t points = 1;
  for (const std::size_t extent : shape) {
    if (__builtin_mul_overflow(points, extent, &points)) mistake(fmt::format("{}: too large to count", what));
  }
  std::size_t covered = 0;
  for (std::size_t rank = 0; rank < boxes.size(); ++rank) {
    const Box& box = boxes[rank];
    std::array<int, 3> order = box.order;
    std::sort(order.begin(), order.end());
    if (order != std::array<int, 3>{0, 1, 2})
      mistake(fmt::format("rank {}'s {} box: its axis order is not a permutation of 0, 1, 2", rank, what));
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (box.begin[axis] <= box.end[axis] && box.end[axis] <= extent_of(shape, axis)) continue;
      mistake(fmt::format("rank {}'s {} box {} is not within {} points of axis {}", rank, what, to_string(box),
                          extent_of(shape, axis), axis));
    }
    covered += box.size();  // at most boxes.size() * points, more only if boxes overlap
    if (box.size() == 0) continue;
    for (std::size_t other = 0; other < rank; ++other) {
      if (intersection(box, boxes[other]).size() == 0) continue;
      mistake(fmt::format("the {} boxes of ranks {} and {} overlap: {} and {}", what, other, rank,
                          to_string(boxes[other]), to_string(box)));
    }
  }
  if (covered != points) {
    mistake(
        fmt::format("the {} boxes hold {} of {} points: every point must belong to one rank", what, covered, points));
  }
}

}  // namespace ridge::mpi
