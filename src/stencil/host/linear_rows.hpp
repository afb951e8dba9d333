// Sums of weighted neighbours over rows with explicit SIMD: the kernel of every host variant where an update is linear.
#pragma once
#include <cstddef>
#include <functional>
#include <vector>

#include <ridge/stencil/update.hpp>

#include "stencil/host/linear_kernels.hpp"

namespace ridge::stencil {

template <class T>
using RowKernel = std::function<void(const Rows<T>&)>;

// Keeps the order of the terms: equal to their definition in linear<T>() bit for bit, on every instruction set.
// `streaming`: stores go round the caches where the machine can (call streaming_fence() on the thread before its rows
// are read by another).
template <class T>
RowKernel<T> linear_rows(const std::vector<Term>& terms, const Offset& radius, std::size_t fields,
                         bool streaming = false);
void streaming_fence();

// The shape whose points these terms are, in its order.
ShapeName shape_of(const std::vector<Term>& terms);

}  // namespace ridge::stencil
