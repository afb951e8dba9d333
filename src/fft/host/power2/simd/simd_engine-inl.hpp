// Columns and large transforms in Highway, compiled once per instruction set for each Number
// (cmake/RidgeNumbers.cmake); the engine that holds them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/power2/simd/simd_engine-inl.hpp"
// Highway requires this order.
// clang-format off
#include "base/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "fft/host/power2/engines.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::power2::HWY_NAMESPACE {
namespace {

// Each header builds on the previous one.
// clang-format off
#include "fft/host/power2/simd/simd-inl.hpp"
#include "fft/host/power2/butterflies-inl.hpp"
#include "fft/host/power2/lines-inl.hpp"
#include "fft/host/power2/levels-inl.hpp"
#include "fft/host/power2/columns-inl.hpp"
#include "fft/host/power2/batches-inl.hpp"
#include "fft/host/power2/simd/simd_large-inl.hpp"
// clang-format on

constexpr Level<Number> kLevels[] = {level_of<Number, 4>(), level_of<Number, 8>(), level_of<Number, 16>()};
constexpr ColumnLine<Number> kColumnLines[] = {
    column_line<Number, 2>(),       column_line<Number, 4>(),       column_line<Number, 8>(),
    column_line<Number, 16>(),      column_line<Number, 8, 4>(),    column_line<Number, 8, 8>(),
    column_line<Number, 8, 4, 4>(), column_line<Number, 8, 8, 4>(), column_line<Number, 8, 8, 8>(),
};
constexpr ColumnLevel<Number> kColumnLevels[] = {column_level_of<Number, 4>(), column_level_of<Number, 8>(),
                                                 column_level_of<Number, 16>()};

constexpr Batch<Number> kBatches[] = {batch<Number, 8, 4>(), batch<Number, 8, 8>(), batch<Number, 16, 8>()};

Engine<Number> engine() {
  using P = Split<Number, kWideLanes<Number>, false>;
  return {target_name(),
          P::kLanes,
          true,
          512,
          false,
          1,
          P::kStrip,
          P::kLine,
          simd_lines<Number>(),
          items(kLevels),
          items(kColumnLines),
          items(kColumnLevels),
          items(kBatches),
          reorder<P>};
}

}  // namespace
}  // namespace ridge::fft::power2::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::fft::power2 {
HWY_EXPORT(engine);
template <>
const Engine<Number>& simd_engine<Number>() {
  static const Engine<Number> chosen = HWY_DYNAMIC_DISPATCH(engine)();
  return chosen;
}
}  // namespace ridge::fft::power2
#endif
