// Kernels on rows in the dimension-lifted transpose (dlt_rows.hpp): a step along x is a whole vector.
#pragma once
#include <cstddef>

#include "stencil/host/kernels/linear_rows.hpp"

namespace ridge::stencil {

// Lanes of the vectors that the kernels use on this machine.
template <class T>
std::size_t dlt_lanes();
// A plain loop, vectorized by the compiler for this machine; in[i] already points dx vectors further.
template <class T>
SumTerms<T> dlt_compiler_kernel();
// As SumShape with explicit SIMD; common inputs of adjacent cells and rows are loaded once. Null if there is no such
// kernel.
template <class T>
SumShape<T> dlt_simd_kernel(ShapeName shape, std::size_t rows);

}  // namespace ridge::stencil
