// Reference stencil: cell by cell, operation by operation, every neighbour found through the border mapping. Uses the
// update's arithmetic; double for Grid<double>, whatever T is.
#pragma once
#include <cstddef>

#include <ridge/stencil.hpp>

namespace ridge::stencil {

// Equal bit for bit to every exact variant.
template <class T>
void reference(const Update<T>& update, const Problem& problem, Grid<T>& grid, std::size_t steps,
               const Grid<T>* coefficients = nullptr);

// The same update with all operations in double, to measure the error of float.
template <class T>
void reference_in_double(const Update<T>& update, const Problem& problem, Grid<double>& grid, std::size_t steps,
                         const Grid<double>* coefficients = nullptr);

}  // namespace ridge::stencil
