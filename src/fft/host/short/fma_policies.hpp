// Policies for 128-bit vectors with x86 FMA: two complex floats or one complex double.
#pragma once
#include <immintrin.h>

#include <cstddef>
#include <utility>

#include "fft/host/short/plain.hpp"

namespace ridge::fft::shorts::fma {

struct FloatParts {
  using T = float;
  using V = __m128;
  static constexpr size_t kLanes = 2;
  [[gnu::always_inline]] static V all(double value) { return _mm_set1_ps(static_cast<float>(value)); }
  [[gnu::always_inline]] static V pair(double re, double im) {
    const float a = float(re), b = float(im);
    return _mm_setr_ps(a, b, a, b);
  }
  [[gnu::always_inline]] static V load(const T* p) { return _mm_loadu_ps(p); }
  [[gnu::always_inline]] static void store(T* p, V v) { _mm_storeu_ps(p, v); }
  [[gnu::always_inline]] static V load_half(const T* p) {
    return _mm_castpd_ps(_mm_load_sd(reinterpret_cast<const double*>(p)));
  }
  [[gnu::always_inline]] static void store_half(T* p, V v) { _mm_storel_pi(reinterpret_cast<__m64*>(p), v); }
  [[gnu::always_inline]] static V add(V a, V b) { return _mm_add_ps(a, b); }
  [[gnu::always_inline]] static V sub(V a, V b) { return _mm_sub_ps(a, b); }
  [[gnu::always_inline]] static V swapped(V a) { return _mm_permute_ps(a, 0xB1); }
  [[gnu::always_inline]] static V real_parts(V a) { return _mm_moveldup_ps(a); }
  [[gnu::always_inline]] static V imaginary_parts(V a) { return _mm_movehdup_ps(a); }
  [[gnu::always_inline]] static V fused(V sum, V a, V b) { return _mm_fmadd_ps(a, b, sum); }
  [[gnu::always_inline]] static V fused_away(V sum, V a, V b) { return _mm_fnmadd_ps(a, b, sum); }
  [[gnu::always_inline]] static V product(V a, V b) { return _mm_mul_ps(a, b); }
  [[gnu::always_inline]] static V low(V a, V b) { return _mm_movelh_ps(a, b); }
  [[gnu::always_inline]] static V high(V a, V b) { return _mm_movehl_ps(b, a); }
  template <size_t kA, size_t kB>
  [[gnu::always_inline]] static V combine_halves(V a, V b) {
    return _mm_castpd_ps(_mm_shuffle_pd(_mm_castps_pd(a), _mm_castps_pd(b), int(kA + 2 * kB)));
  }
  template <bool kInverse>
  [[gnu::always_inline]] static V signs() {
    return kInverse ? _mm_setr_ps(-1, 1, -1, 1) : _mm_setr_ps(1, -1, 1, -1);
  }
};
struct DoubleParts {
  using T = double;
  using V = __m128d;
  static constexpr size_t kLanes = 1;
  [[gnu::always_inline]] static V all(double value) { return _mm_set1_pd(value); }
  [[gnu::always_inline]] static V pair(double re, double im) { return _mm_setr_pd(re, im); }
  [[gnu::always_inline]] static V load(const T* p) { return _mm_loadu_pd(p); }
  [[gnu::always_inline]] static void store(T* p, V v) { _mm_storeu_pd(p, v); }
  [[gnu::always_inline]] static V load_half(const T* p) { return _mm_loadu_pd(p); }
  [[gnu::always_inline]] static void store_half(T* p, V v) { _mm_storeu_pd(p, v); }
  [[gnu::always_inline]] static V add(V a, V b) { return _mm_add_pd(a, b); }
  [[gnu::always_inline]] static V sub(V a, V b) { return _mm_sub_pd(a, b); }
  [[gnu::always_inline]] static V swapped(V a) { return _mm_permute_pd(a, 1); }
  [[gnu::always_inline]] static V real_parts(V a) { return _mm_movedup_pd(a); }
  [[gnu::always_inline]] static V imaginary_parts(V a) { return _mm_permute_pd(a, 3); }
  [[gnu::always_inline]] static V fused(V sum, V a, V b) { return _mm_fmadd_pd(a, b, sum); }
  [[gnu::always_inline]] static V fused_away(V sum, V a, V b) { return _mm_fnmadd_pd(a, b, sum); }
  [[gnu::always_inline]] static V product(V a, V b) { return _mm_mul_pd(a, b); }
  template <bool kInverse>
  [[gnu::always_inline]] static V signs() {
    return kInverse ? _mm_setr_pd(-1, 1) : _mm_setr_pd(1, -1);
  }
};
template <class Parts, bool kInverse>
struct Products : Plain<Parts, kInverse> {
  using V = typename Parts::V;
  using T = typename Parts::T;
  [[gnu::always_inline]] static V multiply(V a, V b) { return Parts::product(a, b); }
  [[gnu::always_inline]] static V multiply_add(V sum, V a, V b) { return Parts::fused(sum, a, b); }
  [[gnu::always_inline]] static V multiply_subtract(V sum, V a, V b) { return Parts::fused_away(sum, a, b); }
  [[gnu::always_inline]] static void store_two(T* p, V a, V b) {
    Parts::store(p, a);
    Parts::store(p + 2 * Parts::kLanes, b);
  }
};

template <bool kInverse>
struct FloatPairs : Products<FloatParts, kInverse> {
  using Base = Products<FloatParts, kInverse>;
  using V = __m128;
  using T = float;
  template <size_t N>
  [[gnu::always_inline]] static void gather_any(const T* in, size_t distance, V* r) {
    const T* const other = in + 2 * distance;
#pragma GCC unroll 16
    for (size_t k = 0; k + 1 < N; k += 2) {
      const V a = Base::load(in + 2 * k), b = Base::load(other + 2 * k);
      r[k] = Base::low(a, b);
      r[k + 1] = Base::high(a, b);
    }
    if constexpr (N % 2 == 1)
      r[N - 1] = Base::low(Base::load_half(in + 2 * (N - 1)), Base::load_half(other + 2 * (N - 1)));
  }
  template <size_t N>
  [[gnu::always_inline]] static void scatter_any(T* out, size_t distance, const V* r) {
    T* const other = out + 2 * distance;
#pragma GCC unroll 16
    for (size_t k = 0; k + 1 < N; k += 2) {
      Base::store(out + 2 * k, Base::low(r[k], r[k + 1]));
      Base::store(other + 2 * k, Base::high(r[k], r[k + 1]));
    }
    if constexpr (N % 2 == 1) {
      Base::store_half(out + 2 * (N - 1), r[N - 1]);
      Base::store_half(other + 2 * (N - 1), Base::high(r[N - 1], r[N - 1]));
    }
  }
  template <size_t N>
  [[gnu::always_inline]] static void gather_packed(const T* in, V* r) {
    gather_packed<N>(in, r, std::make_index_sequence<N>());
  }
  template <size_t N, size_t... k>
  [[gnu::always_inline]] static void gather_packed(const T* in, V* r, std::index_sequence<k...>) {
    const V v[N] = {Base::load(in + 4 * k)...};
    ((r[k] = Base::template combine_halves<k % 2, (k + N) % 2>(v[k / 2], v[(k + N) / 2])), ...);
  }
  template <size_t N>
  [[gnu::always_inline]] static void scatter_packed(T* out, const V* r) {
    scatter_packed<N>(out, r, std::make_index_sequence<N>());
  }
  template <size_t N, size_t... i>
  [[gnu::always_inline]] static void scatter_packed(T* out, const V* r, std::index_sequence<i...>) {
    const V v[N] = {Base::template combine_halves<(2 * i) / N, (2 * i + 1) / N>(r[2 * i % N], r[(2 * i + 1) % N])...};
#pragma GCC unroll 16
    for (size_t j = 0; j < N; ++j) Base::store(out + 4 * j, v[j]);
  }
};
template <bool kInverse>
struct Doubles : Products<DoubleParts, kInverse> {
  using V = __m128d;
  using T = double;
  template <size_t N>
  [[gnu::always_inline]] static void gather_any(const T* in, size_t, V* r) {
#pragma GCC unroll 32
    for (size_t k = 0; k < N; ++k) r[k] = _mm_loadu_pd(in + 2 * k);
  }
  template <size_t N>
  [[gnu::always_inline]] static void scatter_any(T* out, size_t, const V* r) {
#pragma GCC unroll 32
    for (size_t k = 0; k < N; ++k) _mm_storeu_pd(out + 2 * k, r[k]);
  }
};
}  // namespace ridge::fft::shorts::fma
