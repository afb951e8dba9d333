// Reference stencil: evaluates an update cell by cell, operation by operation, from <ridge/stencil.hpp> alone. Shares
// no code with src/stencil.
#pragma once
#include <cstdint>
#include <type_traits>
#include <vector>

#include <ridge/stencil.hpp>

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

}  // namespace ridge::check
