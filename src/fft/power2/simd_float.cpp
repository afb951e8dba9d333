// Lines of float in Highway, compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/power2/simd_float.cpp"
// The order Highway wants.
// clang-format off
#include "fft/power2/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include "fft/power2/simd_parts.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::power2::HWY_NAMESPACE {
namespace {

// Each builds on the one before.
// clang-format off
#include "fft/power2/simd-inl.hpp"
#include "fft/power2/butterflies.inl"
#include "fft/power2/lines.inl"
#include "fft/power2/short_lines.inl"
#include "fft/power2/simd_lines-inl.hpp"
#if HWY_TARGET == HWY_AVX3
#include "fft/power2/registers.inl"
#endif
// clang-format on

// Of each length the fastest first, as measured with NEON; lines narrower than the vectors come after the full ones.
constexpr Line<float> kLines[] = {
#if HWY_TARGET == HWY_AVX3
    register_line<2>(),         register_line<4>(),        register_line<8>(),      register_line<16>(),
    register_line<32>(),        register_line<64>(),       register_line<128>(),
#endif
    short_line<float, 2>(),     short_line<float, 4>(),    short_line<float, 8>(),  line<float, 4, 4>(),
    short_line<float, 16>(),    line<float, 8, 4>(),       line<float, 8, 8>(),     line<float, 16, 8>(),
    line<float, 8, 8, 4>(),     line<float, 16, 16>(),     line<float, 8, 8, 8>(),  line<float, 16, 8, 4>(),
    line<float, 8, 8, 4, 4>(),  line<float, 8, 8, 16>(),   line<float, 16, 8, 8>(), line<float, 16, 16, 8>(),
    line<float, 16, 8, 8, 4>(), line<float, 16, 16, 16>(),
};

Items<Line<float>> lines() { return items(kLines); }

}  // namespace
}  // namespace ridge::fft::power2::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::fft::power2 {
HWY_EXPORT(lines);
template <>
Items<Line<float>> simd_lines<float>() {
  return HWY_DYNAMIC_DISPATCH(lines)();
}
}  // namespace ridge::fft::power2
#endif
