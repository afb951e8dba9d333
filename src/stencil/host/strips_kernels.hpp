// Which kernels a sweep calls.
#pragma once
#include "stencil/host/strips.hpp"

namespace ridge::stencil {

struct StripKernelOptions {
  std::size_t planes = 1, rows = 4;  // 3D: a kernel for blocks of several planes, where there is one
  bool streaming = false;            // the last stage's stores go past the caches
};

// The update's own loop: any update.
template <class T>
StripKernels<T> general_strip_kernels(const Update<T>& update);

// Weighted sums in vector registers, in the order of the terms. The update must have a linear form.
template <class T>
StripKernels<T> linear_strip_kernels(const Update<T>& update, const StripKernelOptions& options);

}  // namespace ridge::stencil
