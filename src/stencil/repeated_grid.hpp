// A large grid on a device whose cells repeat along every axis (device/repeated.hpp): made there from a small grid, and
// compared there with the reference of the small grid after the same steps.
#pragma once
#include <cstddef>
#include <optional>

#include "device/repeated.hpp"
#include "stencil/device/packed.hpp"

namespace ridge::stencil {

inline constexpr std::size_t kLargeGrid = std::size_t{1} << 22;  // values

template <class T>
class RepeatedGrid {
 public:
  // Results of up to `steps` steps repeat.
  RepeatedGrid(const Device& device, const Layout& layout, std::size_t steps);
  // False for grids of fewer than `least` values, for which a grid on the host is as good, and for short ones.
  bool pays(std::size_t least = kLargeGrid) const;
  std::vector<std::size_t> small_shape() const;
  void repeat(Grid<T>& small) const { of(small.fields()).repeat(small.all()); }
  // Makes the packed cells of the large grid; uploads the small grid immediately.
  PackedCells expand(const Grid<T>& small) const;
  RepeatedArrays::Difference compare(Queue& queue, const Buffer& packed, const Grid<T>& small) const;

 private:
  Repetition of(std::size_t fields) const { return {axes_, fields}; }
  Buffer uploaded(const Grid<T>& small) const;

  Device device_;
  std::size_t dimensions_, fields_;
  std::array<RepeatedAxis, 3> axes_{};
};

}  // namespace ridge::stencil
