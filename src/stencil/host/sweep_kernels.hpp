// Which kernels a sweep calls.
#pragma once
#include "stencil/host/overlapped_tiles.hpp"

namespace ridge::stencil {

// Whether streaming stores are other instructions here, and save the reading of lines that are only overwritten.
#if defined(__x86_64__)
inline constexpr bool kStreamingStores = true;
#else
inline constexpr bool kStreamingStores = false;
#endif

struct SweepKernelOptions {
  std::size_t planes = 1, rows = 4;  // 3D: a kernel for blocks of several planes, where there is one
  bool flat = false;                 // 3D: whole planes as long rows
  bool streaming = false;            // the last stage's stores go past the caches
};

// Any update: its own loop, or real numbers as a list of vector operations.
template <class T>
SweepKernels<T> general_sweep_kernels(const Update<T>& update, bool vectors = false);

// Weighted sums in vector registers, in the order of the terms. The update must have a linear form.
template <class T>
SweepKernels<T> linear_sweep_kernels(const Update<T>& update, const SweepKernelOptions& options);

}  // namespace ridge::stencil
