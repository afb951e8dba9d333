// A checked stencil problem: the input of variants. Always three axes, z, y, x; axes that a problem does not have are
// one cell long with radius 0.
#pragma once
#include <array>
#include <cstddef>
#include <string>

#include <ridge/stencil.hpp>

namespace ridge::stencil {

struct Layout {
  std::size_t dimensions = 0, fields = 1, coefficients = 0;
  std::array<std::size_t, 3> shape{1, 1, 1};         // z, y, x
  std::array<std::size_t, 3> begin{0, 0, 0}, end{};  // the cells that change; the others are fixed borders
  std::array<int, 3> radius{};
  std::array<Border, 3> low{}, high{};
  std::size_t element_bytes = 0;
  double flops = 0;         // per cell and step
  std::string update{};     // its name and fingerprint
  std::size_t threads = 1;  // host: number of threads that may be used
  Schedule schedule = Schedule::automatic;

  std::size_t rows() const { return shape[0] * shape[1]; }
  std::size_t cells() const { return rows() * shape[2]; }  // of one field
  std::size_t changing() const {                           // of them, the cells that a step computes
    return (end[0] - begin[0]) * (end[1] - begin[1]) * (end[2] - begin[2]);
  }
  // Maps `index` along `axis`, which may be up to the radius outside, to the cell that is read.
  std::size_t source(std::size_t axis, std::ptrdiff_t index) const;
  std::string key() const;  // text of the problem, the same in every process
};

// Error{invalid_argument} for wrong shapes, sizes beyond the address space, an axis that is periodic on one side only,
// and fixed borders that leave no cell to change.
template <class T>
Layout resolve(const Update<T>& update, const Problem& problem);

}  // namespace ridge::stencil
