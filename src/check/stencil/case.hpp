// Reference stencil: evaluates an update cell by cell, operation by operation, from <ridge/stencil.hpp> alone. Shares
// no code with src/stencil.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <type_traits>
#include <vector>

#include <ridge/stencil.hpp>

#include "check/random.hpp"

namespace ridge::check {

// The reference's number type: wider than the cells; integers wrap at 32 bits.
template <class T>
using WideCell = std::conditional_t<std::is_same_v<T, float>, double,
                                    std::conditional_t<std::is_same_v<T, double>, long double, std::int32_t>>;

// The cells of all fields after `steps`, in the order of `grid`. Coefficients if the update has any, else null.
template <class T>
std::vector<WideCell<T>> stepped(const stencil::Update<T>& update, const stencil::Problem& problem,
                                 const stencil::Grid<T>& grid, std::size_t steps,
                                 const stencil::Grid<T>* coefficients = nullptr);

// Draws random stencil updates.

// Random numbers of an offset; if `even`, those of offsets that differ in signs only are the same.
inline Random random_at(std::uint64_t seed, const stencil::Offset& offset, bool even) {
  for (const int o : offset) seed = Random(seed + static_cast<std::uint64_t>(even ? std::abs(o) : o + 8)).bits();
  return Random(seed);
}

// An update and the growth of a difference per step: the sum of the absolute weights, at least 1.
template <class T>
struct Drawn {
  stencil::Update<T> update;
  double growth = 1;
  std::size_t roundings = 0;  // roundings per cell and step
};

// Sums of one field with constant weights.
template <class T>
Drawn<T> draw_linear(Random& random, std::size_t dimensions);
// All others: several fields, coefficients per cell, nonlinear functions.
template <class T>
Drawn<T> draw_system(Random& random);

}  // namespace ridge::check
