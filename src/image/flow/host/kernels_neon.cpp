// Compiled for Armv8.2 with dot products (image.cmake): no header with inline code of others may come in here. Whether
// the machine has them is asked in kernels.cpp.
#if defined(__aarch64__) && defined(__ARM_FEATURE_DOTPROD)
#include "image/flow/host/engine_neon.hpp"
#include "image/flow/host/kernels.hpp"

namespace ridge::image::flow {
namespace {

// clang-format off
#include "image/flow/host/search-inl.hpp"
#include "image/flow/host/filter-inl.hpp"
// clang-format on
#include "image/flow/host/kernel_table-inl.hpp"

}  // namespace

extern const Kernels kDotProductKernels = kernel_table<Engine, Engine>("NEON with dot products");

}  // namespace ridge::image::flow
#endif
