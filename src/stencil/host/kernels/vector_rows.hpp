// A vector program as a row kernel.
#pragma once
#include "stencil/host/kernels/linear_rows.hpp"

namespace ridge::stencil {

// Bit-identical to the update, unless nothing in it compares (is_smooth): then within rounding.
template <class T>
RowKernel<T> vector_rows(const Update<T>& update);

}  // namespace ridge::stencil
