// Multiplies channels by delay phases and bandpass factors, vectorized for each instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filterbank/host/factors.cpp"
// Highway needs this order.
// clang-format off
#include "base/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <algorithm>

#include "filterbank/host/factors.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::filterbank::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;
using std::size_t;

using F = hn::CappedTag<float, 16>;
using V = hn::Vec<F>;

struct Complex {
  V re, im;
};

HWY_INLINE Complex product(Complex a, Complex b) {
  return {hn::NegMulAdd(a.im, b.im, hn::Mul(a.re, b.re)), hn::MulAdd(a.im, b.re, hn::Mul(a.re, b.im))};
}

// exp(2 pi i cycles): reduces the angle to an eighth of a cycle around the nearest quarter, then evaluates polynomials.
HWY_INLINE Complex unit(V cycles) {
  const F f;
  const hn::RebindToSigned<F> i;
  const V quarters = hn::Round(hn::Mul(cycles, hn::Set(f, 4.0f)));
  const V x = hn::Mul(hn::NegMulAdd(quarters, hn::Set(f, 0.25f), cycles), hn::Set(f, 6.28318530717958647692f));
  const V square = hn::Mul(x, x);
  V sine = hn::MulAdd(square, hn::Set(f, -1.9515295891e-4f), hn::Set(f, 8.3321608736e-3f));
  sine = hn::MulAdd(square, sine, hn::Set(f, -1.6666654611e-1f));
  sine = hn::MulAdd(hn::Mul(square, x), sine, x);
  V cosine = hn::MulAdd(square, hn::Set(f, 2.443315711809948e-5f), hn::Set(f, -1.388731625493765e-3f));
  cosine = hn::MulAdd(square, cosine, hn::Set(f, 4.166664568298827e-2f));
  cosine = hn::MulAdd(hn::Mul(square, square), cosine, hn::NegMulAdd(square, hn::Set(f, 0.5f), hn::Set(f, 1.0f)));
  // Quadrant q: 1 and 3 swap sine and cosine; 1 and 2 negate the real part, 2 and 3 the imaginary part.
  const auto q = hn::ConvertTo(i, quarters);
  const auto one = hn::Set(i, 1), two = hn::Set(i, 2);
  const auto odd = hn::RebindMask(f, hn::Eq(hn::And(q, one), one));
  const V re = hn::IfThenElse(odd, sine, cosine), im = hn::IfThenElse(odd, cosine, sine);
  const auto re_sign = hn::ShiftLeft<30>(hn::And(hn::Add(q, one), two));
  const auto im_sign = hn::ShiftLeft<30>(hn::And(q, two));
  return {hn::Xor(re, hn::BitCast(f, re_sign)), hn::Xor(im, hn::BitCast(f, im_sign))};
}

constexpr size_t kGroup = 16;  // channels per group; a group's factors are the first group's times one factor

struct Fine {
  alignas(64) float re[kGroup], im[kGroup];
};

// Multiplies one group's values by fine * coarse, and by `factors` unless null.
HWY_INLINE void rotate_group(float* values, const float* factors, const Fine& fine, float coarse_re, float coarse_im) {
  const F f;
  const Complex coarse{hn::Set(f, coarse_re), hn::Set(f, coarse_im)};
  for (size_t v = 0; v < kGroup; v += hn::Lanes(f)) {
    Complex factor = product({hn::Load(f, fine.re + v), hn::Load(f, fine.im + v)}, coarse);
    V re = hn::Zero(f), im = hn::Zero(f);
    if (factors != nullptr) {
      hn::LoadInterleaved2(f, factors + 2 * v, re, im);
      factor = product(factor, {re, im});
    }
    hn::LoadInterleaved2(f, values + 2 * v, re, im);
    const Complex value = product({re, im}, factor);
    hn::StoreInterleaved2(value.re, value.im, f, values + 2 * v);
  }
}

// Channels `begin` to `end`, whose signed numbers are k + offset.
void rotate_run(const Rotation& task, size_t begin, size_t end, std::int64_t offset, const Fine& fine) {
  const F f;
  const size_t lanes = hn::Lanes(f);
  const V start = hn::Set(f, task.start), slope = hn::Set(f, task.slope);
  auto* const values = reinterpret_cast<float*>(task.values);
  const auto* const factors = reinterpret_cast<const float*>(task.factors);
  alignas(64) float re[kGroup], im[kGroup];
  for (size_t k = begin; k < end; k += lanes * kGroup) {
    // Factors of the first channels of the next groups.
    const auto first = static_cast<float>(static_cast<std::int64_t>(k) + offset);
    const V number = hn::MulAdd(hn::Iota(f, 0.0f), hn::Set(f, static_cast<float>(kGroup)), hn::Set(f, first));
    const Complex coarse = unit(hn::MulAdd(number, slope, start));
    hn::Store(coarse.re, f, re);
    hn::Store(coarse.im, f, im);
    for (size_t g = 0; g < lanes && k + g * kGroup < end; ++g) {
      const size_t at = k + g * kGroup, there = std::min(kGroup, end - at);
      const float* const given = factors == nullptr ? nullptr : factors + 2 * at;
      if (there == kGroup) {
        rotate_group(values + 2 * at, given, fine, re[g], im[g]);
        continue;
      }
      alignas(64) float room[2 * kGroup] = {}, given_room[2 * kGroup] = {};
      std::copy(values + 2 * at, values + 2 * (at + there), room);
      if (given != nullptr) std::copy(given, given + 2 * there, given_room);
      rotate_group(room, given == nullptr ? nullptr : given_room, fine, re[g], im[g]);
      std::copy(room, room + 2 * there, values + 2 * at);
    }
  }
}

void RotateRow(const Rotation& task) {
  const F f;
  Fine fine;
  for (size_t v = 0; v < kGroup; v += hn::Lanes(f)) {
    const Complex one = unit(hn::Mul(hn::Iota(f, static_cast<float>(v)), hn::Set(f, task.slope)));
    hn::Store(one.re, f, fine.re + v);
    hn::Store(one.im, f, fine.im + v);
  }
  rotate_run(task, 0, std::min(task.wrap, task.channels), task.first, fine);
  if (task.wrap < task.channels) {
    rotate_run(task, task.wrap, task.channels, task.first - static_cast<std::int64_t>(task.channels), fine);
  }
}

// Written out, because the library's product checks for infinities.
void MultiplyRow(std::complex<float>* values, const std::complex<float>* factors, size_t channels) {
  for (size_t k = 0; k < channels; ++k) {
    const float re = values[k].real(), im = values[k].imag();
    values[k] = {re * factors[k].real() - im * factors[k].imag(), re * factors[k].imag() + im * factors[k].real()};
  }
}

FactorKernels Factors() { return {RotateRow, MultiplyRow}; }

}  // namespace
}  // namespace ridge::filterbank::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::filterbank {
HWY_EXPORT(Factors);
const FactorKernels& factor_kernels() {
  static const FactorKernels chosen = HWY_DYNAMIC_DISPATCH(Factors)();
  return chosen;
}
}  // namespace ridge::filterbank
#endif
