// The plain stencil, cell by cell, operation by operation, every neighbour found through the border's mapping: what
// every variant is compared with. Arithmetic is the update's own; in double for Grid<double> whatever T is.
#pragma once
#include <cstddef>

#include <ridge/stencil.hpp>

namespace ridge::stencil {

// Equal bit for bit to every exact variant.
template <class T>
void reference(const Update<T>& update, const Problem& problem, Grid<T>& grid, std::size_t steps,
               const Grid<T>* coefficients = nullptr);

// The same update with every operation in double: how far float is off.
template <class T>
void reference_in_double(const Update<T>& update, const Problem& problem, Grid<double>& grid, std::size_t steps,
                         const Grid<double>* coefficients = nullptr);

}  // namespace ridge::stencil
