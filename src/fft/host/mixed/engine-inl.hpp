// Radix-independent parts of the mixed-radix kernels, in Highway, compiled once per instruction set for each Number
// (cmake/RidgeNumbers.cmake). The codelets are separate units, codelets-inl.hpp.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/mixed/engine-inl.hpp"
// Highway requires this order.
// clang-format off
#include "base/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "fft/host/mixed/engine.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::mixed::HWY_NAMESPACE {
namespace {

// Each header builds on the previous one.
// clang-format off
#include "fft/host/power2/simd/simd-inl.hpp"
#include "fft/host/power2/butterflies-inl.hpp"
#include "fft/host/mixed/butterflies-inl.hpp"
#include "fft/host/mixed/odd_butterflies-inl.hpp"
#include "fft/host/mixed/passes-inl.hpp"
// clang-format on

Engine<Number> this_engine() {
  using Wide = Planes<Number, kMixedLanes<Number>>;
  return {hwy::TargetName(HWY_TARGET),
          kMixedLanes<Number>,
          {},
          {gather<Wide, false>, gather<Wide, true>},
          {scatter<Wide, false>, scatter<Wide, true>}};
}

}  // namespace
}  // namespace ridge::fft::mixed::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::fft::mixed {
HWY_EXPORT(this_engine);
template <>
Engine<Number> engine<Number>() {
  Engine<Number> engine = HWY_DYNAMIC_DISPATCH(this_engine)();
  engine.codelets = {codelets<Number, 0>(), codelets<Number, 1>(), codelets<Number, 2>()};
  return engine;
}
}  // namespace ridge::fft::mixed
#endif
