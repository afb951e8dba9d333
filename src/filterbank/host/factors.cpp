#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "filterbank/host/factors.cpp"
// The order Highway wants.
// clang-format off
#include "fft/power2/simd_targets.hpp"
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

// exp(2 pi i turns): to an eighth of a turn around the nearest quarter, then polynomials of the usual degrees.
HWY_INLINE Complex unit(V turns) {
  const F f;
  const hn::RebindToSigned<F> i;
  const V quarters = hn::Round(hn::Mul(turns, hn::Set(f, 4.0f)));
  const V x = hn::Mul(hn::NegMulAdd(quarters, hn::Set(f, 0.25f), turns), hn::Set(f, 6.28318530717958647692f));
  const V square = hn::Mul(x, x);
  V sine = hn::MulAdd(square, hn::Set(f, -1.9515295891e-4f), hn::Set(f, 8.3321608736e-3f));
  sine = hn::MulAdd(square, sine, hn::Set(f, -1.6666654611e-1f));
  sine = hn::MulAdd(hn::Mul(square, x), sine, x);
  V cosine = hn::MulAdd(square, hn::Set(f, 2.443315711809948e-5f), hn::Set(f, -1.388731625493765e-3f));
  cosine = hn::MulAdd(square, cosine, hn::Set(f, 4.166664568298827e-2f));
  cosine = hn::MulAdd(hn::Mul(square, square), cosine, hn::NegMulAdd(square, hn::Set(f, 0.5f), hn::Set(f, 1.0f)));
  // Quarter q of the turn: 1 and 3 swap the two; then 1 and 2 negate the real part, 2 and 3 the imaginary one.
  const auto q = hn::ConvertTo(i, quarters);
  const auto one = hn::Set(i, 1), two = hn::Set(i, 2);
  const auto odd = hn::RebindMask(f, hn::Eq(hn::And(q, one), one));
  const V re = hn::IfThenElse(odd, sine, cosine), im = hn::IfThenElse(odd, cosine, sine);
  const auto re_sign = hn::ShiftLeft<30>(hn::And(hn::Add(q, one), two));
  const auto im_sign = hn::ShiftLeft<30>(hn::And(q, two));
  return {hn::Xor(re, hn::BitCast(f, re_sign)), hn::Xor(im, hn::BitCast(f, im_sign))};
}

// `at` is the signed number of the first lane's channel.
HWY_INLINE void turn_vector(float* values, const float* factors, float at, V start, V slope) {
  const F f;
  const V k = hn::Add(hn::Set(f, at), hn::Iota(f, 0.0f));
  Complex factor = unit(hn::MulAdd(k, slope, start));
  V re = hn::Zero(f), im = hn::Zero(f);
  if (factors != nullptr) {
    hn::LoadInterleaved2(f, factors, re, im);
    factor = product(factor, {re, im});
  }
  hn::LoadInterleaved2(f, values, re, im);
  const Complex value = product({re, im}, factor);
  hn::StoreInterleaved2(value.re, value.im, f, values);
}

// Channels `begin` to `end`, whose signed numbers are k + offset.
HWY_INLINE void turn_run(const Turn& task, size_t begin, size_t end, std::int64_t offset) {
  const F f;
  const size_t lanes = hn::Lanes(f);
  const V start = hn::Set(f, task.start), slope = hn::Set(f, task.slope);
  auto* const values = reinterpret_cast<float*>(task.values);
  const auto* const factors = reinterpret_cast<const float*>(task.factors);
  size_t k = begin;
  for (; k + lanes <= end; k += lanes) {
    turn_vector(values + 2 * k, factors == nullptr ? nullptr : factors + 2 * k,
                static_cast<float>(static_cast<std::int64_t>(k) + offset), start, slope);
  }
  if (k == end) return;
  alignas(64) float room[2 * 16] = {}, given[2 * 16] = {};
  std::copy(values + 2 * k, values + 2 * end, room);
  if (factors != nullptr) std::copy(factors + 2 * k, factors + 2 * end, given);
  turn_vector(room, factors == nullptr ? nullptr : given, static_cast<float>(static_cast<std::int64_t>(k) + offset),
              start, slope);
  std::copy(room, room + 2 * (end - k), values + 2 * k);
}

void TurnRow(const Turn& task) {
  turn_run(task, 0, std::min(task.wrap, task.channels), task.first);
  if (task.wrap < task.channels) {
    turn_run(task, task.wrap, task.channels, task.first - static_cast<std::int64_t>(task.channels));
  }
}

// Written out: the library's product looks for infinities.
void MultiplyRow(std::complex<float>* values, const std::complex<float>* factors, size_t channels) {
  for (size_t k = 0; k < channels; ++k) {
    const float re = values[k].real(), im = values[k].imag();
    values[k] = {re * factors[k].real() - im * factors[k].imag(), re * factors[k].imag() + im * factors[k].real()};
  }
}

FactorKernels Factors() { return {TurnRow, MultiplyRow}; }

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
