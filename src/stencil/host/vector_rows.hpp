// A vector program as the kernel of row variants.
#pragma once
#include "stencil/host/linear_rows.hpp"

namespace ridge::stencil {

// Bit for bit what the update says, unless nothing in it compares (is_smooth): then within rounding.
template <class T>
RowKernel<T> vector_rows(const Update<T>& update);

}  // namespace ridge::stencil
