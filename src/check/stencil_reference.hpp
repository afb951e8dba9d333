// An update cell by cell, operation by operation, from <ridge/stencil.hpp> alone: what stencils are compared with. It
// shares no code with src/stencil.
#pragma once
#include <cstdint>
#include <type_traits>
#include <vector>

#include <ridge/stencil.hpp>

namespace ridge::check {

// What the reference computes with: more digits than the cells have; integers wrap as 32-bit ones do.
template <class T>
using WideCell = std::conditional_t<std::is_same_v<T, float>, double,
                                    std::conditional_t<std::is_same_v<T, double>, long double, std::int32_t>>;

// The cells of all fields after `steps`, in the order of `grid`. Coefficients as the update wants, or null.
template <class T>
std::vector<WideCell<T>> stepped(const stencil::Update<T>& update, const stencil::Problem& problem,
                                 const stencil::Grid<T>& grid, std::size_t steps,
                                 const stencil::Grid<T>* coefficients = nullptr);

}  // namespace ridge::check
