// Transforms of 33 to 144 points of double with Armv8.3 complex arithmetic. Compiled with -march=armv8.3-a
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
constexpr Codelet<double> kCodelets[] = {
    rows<Doubles, 11, 3>(), rows<Doubles, 7, 5>(),   rows<Doubles, 9, 4>(),   rows<Doubles, 13, 3>(),
    rows<Doubles, 10, 4>(), rows<Doubles, 14, 3>(),  rows<Doubles, 11, 4>(),  rows<Doubles, 15, 3>(),
    rows<Doubles, 12, 4>(), rows<Doubles, 7, 7>(),   rows<Doubles, 10, 5>(),  rows<Doubles, 13, 4>(),
    rows<Doubles, 9, 6>(),  rows<Doubles, 11, 5>(),  rows<Doubles, 14, 4>(),  rows<Doubles, 10, 6>(),
    rows<Doubles, 9, 7>(),  rows<Doubles, 10, 7>(),  rows<Doubles, 12, 6>(),  rows<Doubles, 15, 5>(),
    rows<Doubles, 10, 8>(), rows<Doubles, 9, 9>(),   rows<Doubles, 14, 6>(),  rows<Doubles, 10, 9>(),
    rows<Doubles, 12, 8>(), rows<Doubles, 10, 10>(), rows<Doubles, 15, 7>(),  rows<Doubles, 12, 9>(),
    rows<Doubles, 14, 8>(), rows<Doubles, 12, 10>(), rows<Doubles, 14, 9>(),  rows<Doubles, 12, 11>(),
    rows<Doubles, 15, 9>(), rows<Doubles, 14, 10>(), rows<Doubles, 12, 12>(),
};

}  // namespace

Codelets<double> double_up_to_144() { return {kCodelets, sizeof kCodelets / sizeof kCodelets[0]}; }

}  // namespace ridge::fft::shorts::fcma
#endif
