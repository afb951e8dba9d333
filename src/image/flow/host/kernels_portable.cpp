// Highway kernels, for every instruction set with vectors of a fixed size.
#include "image/flow/host/kernels.hpp"

#include "base/simd_targets.hpp"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "image/flow/host/kernels_portable.cpp"
#include <hwy/foreach_target.h>
//
#include <hwy/highway.h>

#include "image/flow/host/engine_highway-inl.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::image::flow {
namespace HWY_NAMESPACE {

// clang-format off
#include "image/flow/host/search-inl.hpp"
#include "image/flow/host/filter-inl.hpp"
#include "image/flow/host/kernel_table-inl.hpp"
// clang-format on

const Kernels* table() {
  static constexpr Kernels kTable = kernel_table<Engine<8>, Engine<16>>(HWY_STR(HWY_NAMESPACE));
  return &kTable;
}

}  // namespace HWY_NAMESPACE
}  // namespace ridge::image::flow
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::image::flow {
HWY_EXPORT(table);
const Kernels* portable_kernels() { return HWY_DYNAMIC_DISPATCH(table)(); }
}  // namespace ridge::image::flow
#endif
