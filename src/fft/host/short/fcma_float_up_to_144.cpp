// Transforms of 33 to 144 points of float with Armv8.3 complex arithmetic. Compiled with -march=armv8.3-a
// (short.cmake): no header with inline code may be included here.
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
    rows<FloatPairs, 11, 3>(), rows<FloatPairs, 7, 5>(),   rows<FloatPairs, 9, 4>(),   rows<FloatPairs, 13, 3>(),
    rows<FloatPairs, 10, 4>(), rows<FloatPairs, 14, 3>(),  rows<FloatPairs, 11, 4>(),  rows<FloatPairs, 15, 3>(),
    rows<FloatPairs, 12, 4>(), rows<FloatPairs, 7, 7>(),   rows<FloatPairs, 10, 5>(),  rows<FloatPairs, 13, 4>(),
    rows<FloatPairs, 9, 6>(),  rows<FloatPairs, 11, 5>(),  rows<FloatPairs, 14, 4>(),  rows<FloatPairs, 10, 6>(),
    rows<FloatPairs, 9, 7>(),  rows<FloatPairs, 10, 7>(),  rows<FloatPairs, 12, 6>(),  rows<FloatPairs, 15, 5>(),
    rows<FloatPairs, 10, 8>(), rows<FloatPairs, 9, 9>(),   rows<FloatPairs, 14, 6>(),  rows<FloatPairs, 10, 9>(),
    rows<FloatPairs, 12, 8>(), rows<FloatPairs, 10, 10>(), rows<FloatPairs, 15, 7>(),  rows<FloatPairs, 12, 9>(),
    rows<FloatPairs, 14, 8>(), rows<FloatPairs, 12, 10>(), rows<FloatPairs, 14, 9>(),  rows<FloatPairs, 12, 11>(),
    rows<FloatPairs, 15, 9>(), rows<FloatPairs, 14, 10>(), rows<FloatPairs, 12, 12>(),
};

}  // namespace

Codelets<float> float_up_to_144() { return {kCodelets, sizeof kCodelets / sizeof kCodelets[0]}; }

}  // namespace ridge::fft::shorts::fcma
#endif
