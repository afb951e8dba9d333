// Weighted sums of stations for any vector width.
#include "base/simd_byte_targets.hpp"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "search/host/beam_sums.cpp"
#include <hwy/foreach_target.h>
// foreach_target must be included first
#include <hwy/highway.h>

#include "search/host/rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::search::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

void AddStations(const float* real, const float* imaginary, const std::complex<float>* weights, std::size_t stations,
                 float* sum_real, float* sum_imaginary) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t t = 0; t < kBeamTile; t += 2 * lanes) {
    const std::size_t second = t + lanes < kBeamTile ? t + lanes : t;
    auto r0 = hn::Zero(d), i0 = r0, r1 = r0, i1 = r0;
    for (std::size_t s = 0; s < stations; ++s) {
      const auto wr = hn::Set(d, weights[s].real()), wi = hn::Set(d, weights[s].imag());
      const auto a = hn::LoadU(d, real + s * kBeamTile + t), b = hn::LoadU(d, imaginary + s * kBeamTile + t);
      r0 = hn::NegMulAdd(wi, b, hn::MulAdd(wr, a, r0));
      i0 = hn::MulAdd(wi, a, hn::MulAdd(wr, b, i0));
      const auto e = hn::LoadU(d, real + s * kBeamTile + second), f = hn::LoadU(d, imaginary + s * kBeamTile + second);
      r1 = hn::NegMulAdd(wi, f, hn::MulAdd(wr, e, r1));
      i1 = hn::MulAdd(wi, e, hn::MulAdd(wr, f, i1));
    }
    hn::StoreU(r0, d, sum_real + t);
    hn::StoreU(i0, d, sum_imaginary + t);
    hn::StoreU(r1, d, sum_real + second);
    hn::StoreU(i1, d, sum_imaginary + second);
  }
}

}  // namespace

BeamSums ChosenSums() { return &AddStations; }

}  // namespace ridge::search::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::search {

HWY_EXPORT(ChosenSums);

BeamSums beam_sums() { return HWY_DYNAMIC_DISPATCH(ChosenSums)(); }

}  // namespace ridge::search
#endif
