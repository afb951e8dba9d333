// Kernels on rows in the dimension-lifted transpose (dlt.hpp): a step along x is a whole vector.
#pragma once
#include <cstddef>

#include "stencil/host/linear_kernels.hpp"

namespace ridge::stencil {

// Lanes of the vectors the kernels of this machine use.
template <class T>
std::size_t dlt_lanes();
// A plain loop, vectorised by the compiler for the machine at hand; in[i] already points dx vectors further.
template <class T>
SumTerms<T> dlt_compiler_kernel();
// As SumShape, explicit, with what neighbouring cells and rows read in common loaded once; null where there is none.
template <class T>
SumShape<T> dlt_simd_kernel(ShapeName shape, std::size_t rows);

}  // namespace ridge::stencil
