// Lines of float in Highway, compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/power2/simd/simd_float.cpp"
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
#include "fft/host/power2/short_lines-inl.hpp"
#include "fft/host/power2/simd/simd_lines-inl.hpp"
#if HWY_TARGET == HWY_AVX3
#include "fft/host/power2/pairs-inl.hpp"
#include "fft/host/power2/registers-inl.hpp"
#include "fft/host/power2/eights-inl.hpp"
#endif
// clang-format on

// For each length the fastest first, measured with NEON; lines narrower than the vectors come after the full ones.
constexpr Line<float> kLines[] = {
#if HWY_TARGET == HWY_AVX3
    register_line<2>(),
    register_line<4>(),
    register_line<8>(),
    register_line<16>(),
    register_line<32>(),
    register_line<64>(),
    register_line<128>(),
    pair_line<float, 4>(),
    pair_line<float, 8>(),
    pair_line<float, 16>(),
    pair_line<float, 32>(),
    eights<4>(),
    eights<8>(),
    eights<4, 4>(),
    eights<16>(),
    eights<8, 4>(),
    eights<8, 8>(),
    eights<16, 8>(),
    line<float, 16, 8>(),
#else
    short_line<float, 4>(),    short_line<float, 8>(),   short_line<float, 16>(),    line<float, 8, 4>(),
    line<float, 8, 8>(),       line<float, 16, 8>(),     line<float, 8, 8, 4>(),     line<float, 8, 8, 8>(),
    line<float, 8, 8, 4, 4>(), line<float, 8, 8, 16>(),  line<float, 8, 8, 8, 4>(),  line<float, 8, 8, 8, 8>(),
#endif
    short_line<float, 2>(),
    line<float, 4, 4>(),
    line<float, 16, 16>(),
    line<float, 16, 8, 4>(),
    line<float, 16, 8, 8>(),
    line<float, 16, 16, 8>(),
    line<float, 16, 8, 8, 4>(),
    line<float, 16, 16, 16>(),
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
