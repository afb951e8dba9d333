// SIMD rows of an absorbing layer whose expressions are those of LayerUpdate::Differences, dispatched by
// instruction set at run time. Results equal those of the expressions up to rounding.
#pragma once
#include <array>
#include <cstddef>

namespace ridge::stencil {

inline constexpr std::size_t kCpmlRadius = 4;  // at most
inline constexpr std::size_t kCpmlRows = 4;    // rows of a CpmlBlock, at most

// Weights of the first and of the second difference by distance, up to `radius`.
template <class T>
struct CpmlWeights {
  std::size_t radius = 0;
  std::array<T, kCpmlRadius + 1> first{}, second{};
};

// Rows of a layer along z or y that are neighbours along its axis. Row r of the level before the step and of psi, moved
// by k along the axis, is at [radius + r + k]; so are its values of the profiles stretch, slope, gain and decay, and
// its row of zeta, which only transposed layers read at k != 0. All rows begin `skip` cells after an address that is a
// multiple of the vector size; pointers are to the first cell.
template <class T>
struct CpmlBlock {
  static constexpr std::size_t kRead = kCpmlRows + 2 * kCpmlRadius;
  std::size_t rows = 1, cells = 0, skip = 0;  // 1, 2 or 4 rows
  bool keeps = true;                          // false: the profiles are zero, and no new memory variables are computed
  bool transposed = false;
  std::array<const T*, kRead> before{}, psi{}, zeta{};  // only `psi` is read if not `keeps` and not `transposed`
  std::array<const T*, kCpmlRows> scale{};
  std::array<T*, kCpmlRows> fresh{}, new_psi{}, new_zeta{};
  std::array<const T*, 4> profiles{};
};

// Rows of a layer along x: row r is `r * grid_step` cells further in arrays of the grid and `r * (end - begin)` cells
// in arrays of memory variables, which are stored for cells [begin, end) of a row and replaced in place. Profiles have
// `radius` zeros before the first cell and after the last one.
template <class T>
struct CpmlLines {
  static constexpr std::size_t kCopies = 5, kSlack = 64;
  std::size_t rows = 0, cells = 0, begin = 0, end = 0, grid_step = 0;
  bool transposed = false;
  const T *before = nullptr, *scale = nullptr;
  T *fresh = nullptr, *psi = nullptr, *zeta = nullptr;
  std::array<const T*, 4> profiles{};
  // Work memory, kCopies times `copy` values: rows of `width` = cells + 2 * radius, and kSlack further values.
  std::size_t width = 0, copy = 0;
  T* work = nullptr;
};

// False: not available on this machine.
template <class T>
bool has_cpml_rows();

// Add the layer's terms to `fresh` and compute new memory variables.
template <class T>
void add_cpml_block(const CpmlWeights<T>& weights, const CpmlBlock<T>& block);
template <class T>
void add_cpml_lines(const CpmlWeights<T>& weights, const CpmlLines<T>& lines);

}  // namespace ridge::stencil
