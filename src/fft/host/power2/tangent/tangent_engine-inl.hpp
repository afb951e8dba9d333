// Tangent lines for AVX2 and AVX-512, compiled for each Number (cmake/RidgeNumbers.cmake) with contraction of products
// and sums; other targets have none.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/power2/tangent/tangent_engine-inl.hpp"
// Highway requires this order.
// clang-format off
#include "base/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <type_traits>
#include <utility>

#include "fft/host/power2/engines.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::power2::HWY_NAMESPACE {
namespace {

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
// Each header builds on the previous one.
// clang-format off
#include "fft/host/power2/tangent/tangent-inl.hpp"
#include "fft/host/power2/tangent/tangent_lines-inl.hpp"
// clang-format on

// For each length the fastest first, measured with a prototype.
template <class T>
Items<Line<T>> tangent_lines_here() {
  if constexpr (std::is_same_v<T, float>) {
    static constexpr Line<T> lines[] = {
      tangent_pairs_line<T, 8>(),
      tangent_pairs_line<T, 16>(),
#if HWY_TARGET == HWY_AVX3
      tangent_whole<T, 4, 8, 4>(),
      tangent_whole<T, 8, 8, 8>(),
      tangent_whole<T, 8, 16, 8>(),
      tangent_line<T, 16, 16, 4, 4>(),
      tangent_line<T, 16, 16, 16>(),
      tangent_line<T, 16, 16, 8, 4>(),
      tangent_line<T, 16, 16, 8, 8>(),
      tangent_line<T, 16, 16, 16, 8>(),
      tangent_square<T, 16, 16, 4, 16, 4>(),
      tangent_line<T, 16, 16, 16, 16>(),
      tangent_square<T, 16, 16, 8, 16, 4>(),
      tangent_square<T, 16, 16, 8, 16, 8>(),
      tangent_square<T, 16, 16, 16, 16, 8>(),
      tangent_square<T, 16, 16, 16, 16, 16>(),
      tangent_square<T, 16, 16, 16, 16, 16, 2>(),
      tangent_square<T, 16, 16, 16, 16, 16, 4>(),
      tangent_square<T, 16, 16, 16, 16, 16, 8>(),
      tangent_square<T, 16, 16, 16, 16, 16, 16>(),
#else
      tangent_whole<T, 4, 8, 4>(),
      tangent_whole<T, 8, 8, 8>(),
      tangent_whole<T, 8, 16, 8>(),
      tangent_line<T, 8, 8, 8, 4>(),
      tangent_line<T, 8, 8, 8, 8>(),
      tangent_line<T, 8, 8, 8, 16>(),
      tangent_line<T, 8, 8, 16, 16>(),
      tangent_square<T, 8, 16, 4, 8, 8>(),
      tangent_square<T, 8, 16, 8, 8, 8>(),
      tangent_square<T, 8, 16, 8, 16, 8>(),
      tangent_square<T, 8, 16, 16, 16, 8>(),
      tangent_square<T, 8, 16, 16, 16, 16>(),
      tangent_square<T, 8, 16, 16, 16, 16, 2>(),
      tangent_square<T, 8, 16, 16, 16, 16, 4>(),
#endif
    };
    return items(lines);
  } else {
    static constexpr Line<T> lines[] = {
      tangent_pairs_line<T, 8>(),
#if HWY_TARGET == HWY_AVX3
      tangent_pairs_line<T, 16>(),
      tangent_whole<T, 4, 8, 4>(),
      tangent_whole<T, 8, 8, 8>(),
      tangent_line<T, 8, 16, 8>(),
      tangent_line<T, 8, 16, 16>(),
      tangent_line<T, 8, 16, 8, 4>(),
      tangent_line<T, 8, 8, 8, 16>(),
      tangent_line<T, 8, 8, 16, 16>(),
      tangent_square<T, 8, 8, 8, 8, 8>(),
      tangent_square<T, 8, 8, 8, 8, 16>(),
      tangent_square<T, 8, 8, 16, 8, 16>(),
      tangent_square<T, 8, 16, 16, 8, 16>(),
      tangent_square<T, 8, 16, 16, 16, 16>(),
      tangent_square<T, 8, 16, 16, 16, 16, 2>(),
      tangent_square<T, 8, 16, 16, 16, 16, 4>(),
      tangent_square<T, 8, 16, 16, 16, 16, 8>(),
      tangent_square<T, 8, 16, 16, 16, 16, 16>(),
#else
      tangent_whole<T, 4, 8, 4>(),
      tangent_line<T, 4, 8, 8>(),
      tangent_line<T, 4, 8, 4, 4>(),
      tangent_line<T, 4, 8, 4, 8>(),
      tangent_line<T, 4, 8, 8, 8>(),
      tangent_line<T, 4, 8, 8, 16>(),
      tangent_square<T, 4, 8, 8, 8, 4>(),
      tangent_square<T, 4, 8, 8, 16, 4>(),
      tangent_square<T, 4, 8, 8, 8, 16>(),
      tangent_square<T, 4, 8, 16, 8, 16>(),
      tangent_square<T, 4, 16, 16, 8, 16>(),
      tangent_square<T, 4, 16, 16, 16, 16>(),
      tangent_square<T, 4, 16, 16, 16, 16, 2>(),
#endif
    };
    return items(lines);
  }
}
#else
template <class T>
Items<Line<T>> tangent_lines_here() {
  return {nullptr, 0};
}
#endif

Items<Line<Number>> lines_here() { return tangent_lines_here<Number>(); }

}  // namespace
}  // namespace ridge::fft::power2::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::fft::power2 {
HWY_EXPORT(lines_here);
template <>
Items<Line<Number>> tangent_lines<Number>() {
  return HWY_DYNAMIC_DISPATCH(lines_here)();
}
}  // namespace ridge::fft::power2
#endif
