// Copies a three-dimensional box between two memory layouts.
#pragma once
#include <array>
#include <cstddef>

namespace ridge::mpi {

// Extents of the three axes, and strides in elements of `element` bytes (1, 2, 4, 8 or 16).
struct Copy {
  std::array<std::size_t, 3> extent{}, from{}, to{};
};
void copy_box(const Copy& copy, std::size_t element, const void* from, void* to);

}  // namespace ridge::mpi
