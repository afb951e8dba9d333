// Transforms of up to 32 points of double with Armv8.3 complex arithmetic. Compiled with -march=armv8.3-a
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
    whole<Doubles, 2>(),    whole<Doubles, 3>(),    whole<Doubles, 4>(),    whole<Doubles, 5>(),
    whole<Doubles, 6>(),    whole<Doubles, 7>(),    whole<Doubles, 8>(),    whole<Doubles, 9>(),
    whole<Doubles, 10>(),   whole<Doubles, 11>(),   whole<Doubles, 12>(),   whole<Doubles, 13>(),
    whole<Doubles, 14>(),   whole<Doubles, 15>(),   whole<Doubles, 16>(),   whole<Doubles, 18>(),
    whole<Doubles, 20>(),   whole<Doubles, 21>(),   rows<Doubles, 11, 2>(), whole<Doubles, 24>(),
    rows<Doubles, 5, 5>(),  rows<Doubles, 13, 2>(), rows<Doubles, 9, 3>(),  rows<Doubles, 14, 2>(),
    rows<Doubles, 15, 2>(), rows<Doubles, 4, 8>(),
};

}  // namespace

Codelets<double> double_up_to_32() { return {kCodelets, sizeof kCodelets / sizeof kCodelets[0]}; }

}  // namespace ridge::fft::shorts::fcma
#endif
