// NEON kernels, compiled for Armv8.2 with dot products (image.cmake): headers with inline code of others must not be
// included here. kernels.cpp checks at run time that the machine supports them.
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
