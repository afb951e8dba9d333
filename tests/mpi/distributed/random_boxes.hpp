// Random decompositions of a grid into boxes, equal on all processes for the same seed.
#pragma once
#include <algorithm>
#include <random>
#include <vector>

#include <ridge/mpi.hpp>

namespace distributed {

using Random = std::mt19937;

inline std::size_t below(Random& random, std::size_t n) { return random() % n; }

// Cuts repeatedly at random positions; parts may be empty, and axis orders differ.
inline std::vector<ridge::mpi::Box> random_boxes(Random& random, const ridge::mpi::Shape& shape,
                                                 std::size_t processes) {
  ridge::mpi::Box whole;
  for (std::size_t i = 0; i < shape.size(); ++i) whole.end[i] = shape[i];
  std::vector<ridge::mpi::Box> boxes{whole};
  while (boxes.size() < processes) {
    ridge::mpi::Box& one = boxes[below(random, boxes.size())];
    const std::size_t axis = below(random, shape.size());
    ridge::mpi::Box other = one;
    const std::size_t at = one.begin[axis] + below(random, one.extent(axis) + 1);
    one.end[axis] = other.begin[axis] = at;
    boxes.push_back(other);
  }
  std::shuffle(boxes.begin(), boxes.end(), random);
  for (auto& box : boxes) std::shuffle(box.order.begin(), box.order.end(), random);
  return boxes;
}

// Calls use(element of the box in memory, index of the point in the whole grid) for each point.
template <class Use>
void for_points(const ridge::mpi::Box& box, const ridge::mpi::Shape& shape, const Use& use) {
  const auto strides = box.strides();
  const auto extent = [&](std::size_t axis) { return axis < shape.size() ? shape[axis] : std::size_t{1}; };
  for (std::size_t a = box.begin[0]; a < box.end[0]; ++a) {
    for (std::size_t b = box.begin[1]; b < box.end[1]; ++b) {
      for (std::size_t c = box.begin[2]; c < box.end[2]; ++c) {
        use((a - box.begin[0]) * strides[0] + (b - box.begin[1]) * strides[1] + (c - box.begin[2]) * strides[2],
            (a * extent(1) + b) * extent(2) + c);
      }
    }
  }
}

}  // namespace distributed
