// Kernels that a sweep of overlapped tiles calls.
#pragma once
#include "stencil/host/temporal_tiles/overlapped_tiles.hpp"

namespace ridge::stencil {

// True if non-temporal stores exist here and avoid reading lines that are only overwritten.
#if defined(__x86_64__)
inline constexpr bool kStreamingStores = true;
#else
inline constexpr bool kStreamingStores = false;
#endif

struct SweepKernelOptions {
  std::size_t planes = 1, rows = 4;  // 3D: a kernel for blocks of several planes, if available
  bool flat = false;                 // 3D: whole planes as long rows
  bool streaming = false;            // the last stage uses streaming stores
};

// For any update: its own loop, or a list of vector operations for floating-point cells.
template <class T>
SweepKernels<T> general_sweep_kernels(const Update<T>& update, bool vectors = false);

// Weighted sums in vector registers, in the order of the terms. The update must have a linear form.
template <class T>
SweepKernels<T> linear_sweep_kernels(const Update<T>& update, const SweepKernelOptions& options);

}  // namespace ridge::stencil
