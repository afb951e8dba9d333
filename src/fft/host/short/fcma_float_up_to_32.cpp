// Transforms of up to 32 points of float with Armv8.3 complex arithmetic. Compiled with -march=armv8.3-a (short.cmake):
// no header with inline code may be included here.
#if defined(__aarch64__)
#include "fft/host/short/codelet.hpp"
#include "fft/host/short/fcma_policies.hpp"

namespace ridge::fft::shorts::fcma {
namespace {

// Each header builds on the previous one.
// clang-format off
#include "fft/host/power2/butterflies-inl.hpp"
#include "fft/host/short/scaled-inl.hpp"
#include "fft/host/mixed/odd_butterflies-inl.hpp"
#include "fft/host/short/lines-inl.hpp"
// clang-format on

// The fastest variant of each length, measured on a Neoverse V1.
constexpr Codelet<float> kCodelets[] = {
    whole<FloatPairs, 2>(),         whole<FloatPairs, 3>(),          whole<FloatPairs, 4>(),
    whole<FloatPairs, 5>(),         whole<FloatPairs, 6>(),          whole<FloatPairs, 7>(),
    whole<FloatPairs, 8>(),         whole<FloatPairs, 9>(),          whole<FloatPairs, 10>(),
    whole<FloatPairs, 11>(),        whole<FloatPairs, 12>(),         whole<FloatPairs, 13>(),
    whole<FloatPairs, 14>(),        whole<FloatPairs, 15>(),         rows_alone<FloatPairs, 4, 4>(),
    rows_alone<FloatPairs, 9, 2>(), rows_alone<FloatPairs, 10, 2>(), rows_alone<FloatPairs, 7, 3>(),
    rows<FloatPairs, 11, 2>(),      rows_alone<FloatPairs, 12, 2>(), rows<FloatPairs, 5, 5>(),
    rows<FloatPairs, 13, 2>(),      rows<FloatPairs, 9, 3>(),        rows<FloatPairs, 14, 2>(),
    rows<FloatPairs, 15, 2>(),      rows<FloatPairs, 4, 8>(),
};

}  // namespace

Codelets<float> float_up_to_32() { return {kCodelets, sizeof kCodelets / sizeof kCodelets[0]}; }

}  // namespace ridge::fft::shorts::fcma
#endif
