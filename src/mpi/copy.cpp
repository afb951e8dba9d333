#include "mpi/copy.hpp"

#include <algorithm>
#include <cstring>

namespace ridge::mpi {
namespace {

struct Axis {
  std::size_t extent, from, to;
};

template <std::size_t bytes>
struct Element {
  std::byte at[bytes];
};

// Transposes a plane in tiles, so that both sides touch whole cache lines.
template <std::size_t bytes>
void turn(const Axis& a, const Axis& b, const std::byte* from, std::byte* to) {
  constexpr std::size_t kTile = 16;
  for (std::size_t i0 = 0; i0 < a.extent; i0 += kTile) {
    const std::size_t i1 = std::min(a.extent, i0 + kTile);
    for (std::size_t j0 = 0; j0 < b.extent; j0 += kTile) {
      const std::size_t j1 = std::min(b.extent, j0 + kTile);
      for (std::size_t i = i0; i < i1; ++i) {
        for (std::size_t j = j0; j < j1; ++j) {
          std::memcpy(to + (i * a.to + j * b.to) * bytes, from + (i * a.from + j * b.from) * bytes, bytes);
        }
      }
    }
  }
}

template <std::size_t bytes>
void copy_sorted(const std::array<Axis, 3>& axes, const std::byte* from, std::byte* to) {
  const Axis &slow = axes[0], &middle = axes[1], &fast = axes[2];  // ordered by the strides of `to`
  for (std::size_t i = 0; i < slow.extent; ++i, from += slow.from * bytes, to += slow.to * bytes) {
    if (fast.from == 1 && fast.to == 1) {
      if (middle.from == fast.extent && middle.to == fast.extent) {
        std::memcpy(to, from, middle.extent * fast.extent * bytes);
        continue;
      }
      for (std::size_t j = 0; j < middle.extent; ++j) {
        std::memcpy(to + j * middle.to * bytes, from + j * middle.from * bytes, fast.extent * bytes);
      }
    } else {
      turn<bytes>(middle, fast, from, to);
    }
  }
}

}  // namespace

void copy_box(const Copy& copy, std::size_t element, const void* from, void* to) {
  std::array<Axis, 3> axes{};
  for (std::size_t i = 0; i < 3; ++i) axes[i] = {copy.extent[i], copy.from[i], copy.to[i]};
  if (std::any_of(axes.begin(), axes.end(), [](const Axis& axis) { return axis.extent == 0; })) return;
  // Axes with a single point go first, the others by decreasing destination stride.
  std::stable_sort(axes.begin(), axes.end(), [](const Axis& a, const Axis& b) {
    return (a.extent == 1) != (b.extent == 1) ? a.extent == 1 : a.to > b.to;
  });
  // If the contiguous source axis is not contiguous in the destination, it becomes one of the two axes of the plane.
  if (axes[2].from != 1 && axes[0].from == 1 && axes[0].extent > 1) std::swap(axes[0], axes[1]);
  if (axes[2].extent == 1) axes[2] = {1, 1, 1};
  const auto* source = static_cast<const std::byte*>(from);
  auto* target = static_cast<std::byte*>(to);
  if (element == 1) return copy_sorted<1>(axes, source, target);
  if (element == 2) return copy_sorted<2>(axes, source, target);
  if (element == 4) return copy_sorted<4>(axes, source, target);
  if (element == 8) return copy_sorted<8>(axes, source, target);
  copy_sorted<16>(axes, source, target);
}

}  // namespace ridge::mpi
