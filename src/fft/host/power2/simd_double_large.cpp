// Columns and large transforms of double in Highway, compiled once per instruction set; the engine that holds them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/power2/simd_double_large.cpp"
// The order Highway wants.
// clang-format off
#include "fft/host/power2/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "fft/host/power2/simd_engine.hpp"
#include "fft/host/power2/simd_parts.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::power2::HWY_NAMESPACE {
namespace {

// Each builds on the one before.
// clang-format off
#include "fft/host/power2/simd-inl.hpp"
#include "fft/host/power2/butterflies-inl.hpp"
#include "fft/host/power2/lines-inl.hpp"
#include "fft/host/power2/levels-inl.hpp"
#include "fft/host/power2/columns-inl.hpp"
#include "fft/host/power2/batches-inl.hpp"
#include "fft/host/power2/simd_large-inl.hpp"
// clang-format on

constexpr Level<double> kLevels[] = {level_of<double, 4>(), level_of<double, 8>(), level_of<double, 16>()};
constexpr ColumnLine<double> kColumnLines[] = {
    column_line<double, 2>(),       column_line<double, 4>(),       column_line<double, 8>(),
    column_line<double, 16>(),      column_line<double, 8, 4>(),    column_line<double, 8, 8>(),
    column_line<double, 8, 4, 4>(), column_line<double, 8, 8, 4>(), column_line<double, 8, 8, 8>(),
};
constexpr ColumnLevel<double> kColumnLevels[] = {column_level_of<double, 4>(), column_level_of<double, 8>(),
                                                 column_level_of<double, 16>()};

constexpr Batch<double> kBatches[] = {batch<double, 8, 4>(), batch<double, 8, 8>(), batch<double, 16, 8>()};

Engine<double> engine() {
  using P = Split<double, kWideLanes<double>, false>;
  return {target_name(),
          P::kLanes,
          true,
          512,
          false,
          1,
          P::kStrip,
          P::kLine,
          simd_lines<double>(),
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
const Engine<double>& simd_engine<double>() {
  static const Engine<double> chosen = HWY_DYNAMIC_DISPATCH(engine)();
  return chosen;
}
}  // namespace ridge::fft::power2
#endif
