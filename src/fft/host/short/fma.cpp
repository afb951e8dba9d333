// Short transforms with x86 FMA. Compiled with -mavx2 -mfma (short.cmake): no header with inline code may be included
// here.
#if defined(__x86_64__)
#include "fft/host/short/codelet.hpp"
#include "fft/host/short/fma_policies.hpp"

namespace ridge::fft::shorts::fma {
namespace {

// Each header builds on the previous one.
// clang-format off
#include "fft/host/power2/butterflies-inl.hpp"
#include "fft/host/short/scaled-inl.hpp"
#include "fft/host/mixed/odd_butterflies-inl.hpp"
#include "fft/host/short/lines-inl.hpp"
// clang-format on

// Up to 63 points, except powers of two, which have kernels with wider vectors.
constexpr Codelet<float> kFloats[] = {
    whole<FloatPairs, 3>(),          whole<FloatPairs, 5>(),         whole<FloatPairs, 6>(),
    whole<FloatPairs, 7>(),          whole<FloatPairs, 9>(),         whole<FloatPairs, 10>(),
    whole<FloatPairs, 11>(),         whole<FloatPairs, 12>(),        whole<FloatPairs, 13>(),
    whole<FloatPairs, 14>(),         whole<FloatPairs, 15>(),        rows_alone<FloatPairs, 9, 2>(),
    rows_alone<FloatPairs, 10, 2>(), rows_alone<FloatPairs, 7, 3>(), rows<FloatPairs, 11, 2>(),
    rows_alone<FloatPairs, 12, 2>(), rows<FloatPairs, 5, 5>(),       rows<FloatPairs, 13, 2>(),
    rows<FloatPairs, 9, 3>(),        rows<FloatPairs, 14, 2>(),      rows<FloatPairs, 15, 2>(),
    rows<FloatPairs, 11, 3>(),       rows<FloatPairs, 7, 5>(),       rows<FloatPairs, 9, 4>(),
    rows<FloatPairs, 13, 3>(),       rows<FloatPairs, 10, 4>(),      rows<FloatPairs, 14, 3>(),
    rows<FloatPairs, 11, 4>(),       rows<FloatPairs, 15, 3>(),      rows<FloatPairs, 12, 4>(),
    rows<FloatPairs, 7, 7>(),        rows<FloatPairs, 10, 5>(),      rows<FloatPairs, 13, 4>(),
    rows<FloatPairs, 9, 6>(),        rows<FloatPairs, 11, 5>(),      rows<FloatPairs, 14, 4>(),
    rows<FloatPairs, 10, 6>(),       rows<FloatPairs, 9, 7>(),
};
constexpr Codelet<double> kDoubles[] = {
    whole<Doubles, 3>(),    whole<Doubles, 5>(),    whole<Doubles, 6>(),    whole<Doubles, 7>(),
    whole<Doubles, 9>(),    whole<Doubles, 10>(),   whole<Doubles, 11>(),   whole<Doubles, 12>(),
    whole<Doubles, 13>(),   whole<Doubles, 14>(),   whole<Doubles, 15>(),   whole<Doubles, 18>(),
    whole<Doubles, 20>(),   whole<Doubles, 21>(),   rows<Doubles, 11, 2>(), whole<Doubles, 24>(),
    rows<Doubles, 5, 5>(),  rows<Doubles, 13, 2>(), rows<Doubles, 9, 3>(),  rows<Doubles, 14, 2>(),
    rows<Doubles, 15, 2>(), rows<Doubles, 11, 3>(), rows<Doubles, 7, 5>(),  rows<Doubles, 9, 4>(),
    rows<Doubles, 13, 3>(), rows<Doubles, 10, 4>(), rows<Doubles, 14, 3>(), rows<Doubles, 11, 4>(),
    rows<Doubles, 15, 3>(), rows<Doubles, 12, 4>(), rows<Doubles, 7, 7>(),  rows<Doubles, 10, 5>(),
    rows<Doubles, 13, 4>(), rows<Doubles, 9, 6>(),  rows<Doubles, 11, 5>(), rows<Doubles, 14, 4>(),
    rows<Doubles, 10, 6>(), rows<Doubles, 9, 7>(),
};

}  // namespace

Codelets<float> floats() { return {kFloats, sizeof kFloats / sizeof kFloats[0]}; }
Codelets<double> doubles() { return {kDoubles, sizeof kDoubles / sizeof kDoubles[0]}; }

}  // namespace ridge::fft::shorts::fma
#endif
