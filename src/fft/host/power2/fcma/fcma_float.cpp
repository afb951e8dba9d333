// Lines of float with Armv8.3 complex arithmetic. Compiled with -march=armv8.3-a (power2.cmake): no header with inline
// code may be included here.
#if defined(__aarch64__)
#include "fft/host/power2/engines.hpp"
#include "fft/host/power2/fcma/fcma.hpp"

namespace ridge::fft::power2::fcma {
namespace {

// Each header builds on the previous one.
// clang-format off
#include "fft/host/power2/butterflies-inl.hpp"
#include "fft/host/power2/lines-inl.hpp"
#include "fft/host/power2/short_lines-inl.hpp"
#include "fft/host/power2/fcma/fcma_lines-inl.hpp"
// clang-format on

// For each length the fastest first, measured on a Neoverse V1.
constexpr Line<float> kLines[] = {
    short_line<Float, FloatOne, 2>(),
    short_line<Float, FloatOne, 4>(),
    short_line<Float, FloatOne, 8>(),
    line<Float, 4, 4>(),
    short_line<Float, FloatOne, 16>(),
    line<Float, 4, 8>(),
    line<Float, 8, 4>(),
    line<Float, 16, 4>(),
    line<Float, 8, 8>(),
    line<Float, 16, 8>(),
    line<Float, 16, 16>(),
    line<Float, 16, 8, 4>(),
    line<Float, 16, 4, 8>(),
    line<Float, 8, 8, 8>(),
    line<Float, 16, 16, 4>(),
    line<Float, 16, 8, 8>(),
    line<Float, 16, 16, 8>(),
    line<Float, 16, 16, 16>(),
    line<Float, 16, 16, 4, 4>(),
    line<Float, 16, 16, 8, 4>(),
};

}  // namespace

Items<Line<float>> float_lines() { return items(kLines); }

}  // namespace ridge::fft::power2::fcma
#endif
