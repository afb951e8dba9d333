// Conversions between spectra of complex and real transforms in Highway, compiled once per instruction set.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "fft/host/real/spectra.cpp"
// Highway requires this include order.
// clang-format off
#include "base/simd_targets.hpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>
// clang-format on

#include <cstdint>
#include <cstring>

#include "fft/host/real/spectra.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::fft::real::HWY_NAMESPACE {
namespace {

#include "fft/host/prime/complex-inl.hpp"

// With a = z[k] and b = conj(z[m - k]): x[k] = (a + b) / 2 + w (a - b), conj(x[m - k]) = (a + b) / 2 - w (a - b).
template <class T>
void unpack(T* z, const T* re, const T* im, size_t m) {
  const T first = z[0], second = z[1];
  z[0] = first + second, z[1] = 0;
  z[2 * m] = first - second, z[2 * m + 1] = 0;
  size_t k = 1;
#if HWY_TARGET != HWY_SCALAR
  const Tag<T> d;
  constexpr size_t kStep = kPoints<T>;
  const auto half = hn::Set(d, T(0.5)), conjugate = imaginary_signs<T>();
  for (; 2 * (k + kStep - 1) < m; k += kStep) {
    T* low = z + 2 * k;
    T* high = z + 2 * (m - k - (kStep - 1));
    const auto a = hn::LoadU(d, low), b = hn::Xor(reverse_points<T>(hn::LoadU(d, high)), conjugate);
    const auto sum = hn::Add(a, b);
    const auto odd = times<false, T>(hn::Sub(a, b), hn::LoadU(d, re + 2 * k), hn::LoadU(d, im + 2 * k));
    const auto mirrored = hn::Xor(hn::MulSub(half, sum, odd), conjugate);
    hn::StoreU(hn::MulAdd(half, sum, odd), d, low);
    hn::StoreU(reverse_points<T>(mirrored), d, high);
  }
#endif
  for (; 2 * k <= m; ++k) {
    T *low = z + 2 * k, *high = z + 2 * (m - k);
    const T difference[2] = {low[0] - high[0], low[1] + high[1]};
    const T sum_re = T(0.5) * (low[0] + high[0]), sum_im = T(0.5) * (low[1] - high[1]);
    T odd[2];
    times_one<false>(difference, re + 2 * k, im + 2 * k, odd);
    high[0] = sum_re - odd[0], high[1] = odd[1] - sum_im;
    low[0] = sum_re + odd[0], low[1] = sum_im + odd[1];
  }
}

// With a = x[k] and b = conj(x[m - k]): z[k] = (a + b) + 2 conj(w) (a - b), conj(z[m - k]) = (a + b) - 2 conj(w) (a -
// b).
template <class T>
void pack(const T* x, const T* re, const T* im, T* z, size_t m) {
  const T first = x[0], last = x[2 * m];
  z[0] = first + last, z[1] = first - last;
  size_t k = 1;
#if HWY_TARGET != HWY_SCALAR
  const Tag<T> d;
  constexpr size_t kStep = kPoints<T>;
  const auto two = hn::Set(d, T(2)), conjugate = imaginary_signs<T>();
  for (; 2 * (k + kStep - 1) < m; k += kStep) {
    const size_t low = 2 * k, high = 2 * (m - k - (kStep - 1));
    const auto a = hn::LoadU(d, x + low), b = hn::Xor(reverse_points<T>(hn::LoadU(d, x + high)), conjugate);
    const auto sum = hn::Add(a, b);
    const auto odd = times<true, T>(hn::Sub(a, b), hn::LoadU(d, re + low), hn::LoadU(d, im + low));
    const auto mirrored = hn::Xor(hn::NegMulAdd(two, odd, sum), conjugate);
    hn::StoreU(hn::MulAdd(two, odd, sum), d, z + low);
    hn::StoreU(reverse_points<T>(mirrored), d, z + high);
  }
#endif
  for (; 2 * k <= m; ++k) {
    const T *low = x + 2 * k, *high = x + 2 * (m - k);
    const T difference[2] = {low[0] - high[0], low[1] + high[1]};
    const T sum_re = low[0] + high[0], sum_im = low[1] - high[1];
    T odd[2];
    times_one<true>(difference, re + 2 * k, im + 2 * k, odd);
    z[2 * (m - k)] = sum_re - 2 * odd[0], z[2 * (m - k) + 1] = 2 * odd[1] - sum_im;
    z[2 * k] = sum_re + 2 * odd[0], z[2 * k + 1] = sum_im + 2 * odd[1];
  }
}

// a[k] = (z[k] + conj(z[n - k])) / 2, b[k] = -i (z[k] - conj(z[n - k])) / 2.
template <class T>
void separate(const T* z, T* a, T* b, size_t n) {
  a[0] = z[0], a[1] = 0, b[0] = z[1], b[1] = 0;
  size_t k = 1;
#if HWY_TARGET != HWY_SCALAR
  const Tag<T> d;
  constexpr size_t kStep = kPoints<T>;
  const auto conjugate = imaginary_signs<T>();
  const auto half = hn::Set(d, T(0.5)), signed_half = hn::Xor(half, conjugate);
  for (; 2 * (k + kStep - 1) < n; k += kStep) {
    const auto low = hn::LoadU(d, z + 2 * k);
    const auto high = reverse_points<T>(hn::LoadU(d, z + 2 * (n - k - (kStep - 1))));
    const auto mirror = hn::Xor(high, conjugate);
    hn::StoreU(hn::Mul(half, hn::Add(low, mirror)), d, a + 2 * k);
    hn::StoreU(hn::Mul(signed_half, hn::Reverse2(d, hn::Sub(low, mirror))), d, b + 2 * k);
  }
#endif
  for (; 2 * k < n; ++k) {
    const T *low = z + 2 * k, *high = z + 2 * (n - k);
    a[2 * k] = T(0.5) * (low[0] + high[0]), a[2 * k + 1] = T(0.5) * (low[1] - high[1]);
    b[2 * k] = T(0.5) * (low[1] + high[1]), b[2 * k + 1] = T(0.5) * (high[0] - low[0]);
  }
}

// z[k] = a[k] + i b[k], z[n - k] = conj(a[k]) + i conj(b[k]).
template <class T>
void join(const T* a, const T* b, T* z, size_t n) {
  z[0] = a[0], z[1] = b[0];
  size_t k = 1;
#if HWY_TARGET != HWY_SCALAR
  const Tag<T> d;
  constexpr size_t kStep = kPoints<T>;
  const auto conjugate = imaginary_signs<T>();
  for (; 2 * (k + kStep - 1) < n; k += kStep) {
    // Conjugates: conj(z[k]) = conj(a) - i conj(b), and the mirror is conj(a) + i conj(b).
    const auto even = hn::Xor(hn::LoadU(d, a + 2 * k), conjugate);
    const auto odd = hn::Reverse2(d, hn::LoadU(d, b + 2 * k));
    hn::StoreU(hn::Xor(hn::Sub(even, odd), conjugate), d, z + 2 * k);
    hn::StoreU(reverse_points<T>(hn::Add(even, odd)), d, z + 2 * (n - k - (kStep - 1)));
  }
#endif
  for (; 2 * k < n; ++k) {
    const T *p = a + 2 * k, *q = b + 2 * k;
    z[2 * k] = p[0] - q[1], z[2 * k + 1] = p[1] + q[0];
    z[2 * (n - k)] = p[0] + q[1], z[2 * (n - k) + 1] = q[0] - p[1];
  }
}

template <class T>
void interleave(const T* a, const T* b, T* z, size_t n) {
  for (size_t i = 0; i < n; ++i) z[2 * i] = a[i], z[2 * i + 1] = b[i];
}

template <class T>
void deinterleave(const T* z, T* a, T* b, size_t n) {
  for (size_t i = 0; i < n; ++i) a[i] = z[2 * i], b[i] = z[2 * i + 1];
}

template <class T>
const Spectra<T>& functions() {
  static constexpr Spectra<T> kFunctions = {unpack<T>, pack<T>, separate<T>, join<T>, interleave<T>, deinterleave<T>};
  return kFunctions;
}

const Spectra<float>& float_functions() { return functions<float>(); }
const Spectra<double>& double_functions() { return functions<double>(); }

}  // namespace
}  // namespace ridge::fft::real::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace ridge::fft::real {
HWY_EXPORT(float_functions);
HWY_EXPORT(double_functions);
template <>
const Spectra<float>& spectra<float>() {
  return HWY_DYNAMIC_DISPATCH(float_functions)();
}
template <>
const Spectra<double>& spectra<double>() {
  return HWY_DYNAMIC_DISPATCH(double_functions)();
}
}  // namespace ridge::fft::real
#endif
