// Weighted sums of neighbours over rows with explicit SIMD: the kernel of all host variants for linear updates.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include <ridge/stencil/update.hpp>

#include "stencil/host/kernels/linear_kernels.hpp"

namespace ridge::stencil {

template <class T>
using RowKernel = std::function<void(const Rows<T>&)>;

// Keeps the order of the terms: bit-identical to their definition in linear<T>() on every instruction set. `streaming`:
// non-temporal stores where available (call streaming_fence() on the thread before another thread reads its rows).
template <class T>
RowKernel<T> linear_rows(const std::vector<Term>& terms, const Offset& radius, std::size_t fields,
                         bool streaming = false);
void streaming_fence();

// The unrolled shape whose points, in its order, are these terms.
ShapeName shape_of(const std::vector<Term>& terms);

}  // namespace ridge::stencil
