// Straight-line real transforms, compiled once per target inside HWY_NAMESPACE. A value is a vector with one row per
// lane.

#include "fft/host/power2/simd/simd-inl.hpp"

template <class T, size_t kRows>
struct Rows {
  using D = hn::CappedTag<T, kRows>;
  using V = hn::Vec<D>;
  using Lanes = Split<T, kRows, false>;

  static HWY_INLINE V times(V a, T c) { return hn::Mul(a, hn::Set(D(), c)); }
  static HWY_INLINE V add_times(V sum, V a, T c) { return hn::MulAdd(a, hn::Set(D(), c), sum); }

  // Samples x[0], x[step], ... to X[k] = re[k] + i im[k], k <= N/2.
  template <size_t N>
  static HWY_INLINE void forward(const V* x, size_t step, V* re, V* im) {
    if constexpr (N == 1) {
      re[0] = x[0];
      im[0] = hn::Zero(D());
    } else if constexpr (N == 2) {
      re[0] = hn::Add(x[0], x[step]), im[0] = hn::Zero(D());
      re[1] = hn::Sub(x[0], x[step]), im[1] = hn::Zero(D());
    } else if constexpr (N % 2 == 0) {
      forward_even<N>(x, step, re, im);
    } else {
      forward_odd<N>(x, step, re, im);
    }
  }

  // X[k] = E[k] + w^k O[k] and X[M - k] = conj(E[k] - w^k O[k]) from the spectra of even and odd samples.
  template <size_t N>
  static HWY_INLINE void forward_even(const V* x, size_t step, V* re, V* im) {
    constexpr size_t M = N / 2;
    V even_re[M / 2 + 1], even_im[M / 2 + 1], odd_re[M / 2 + 1], odd_im[M / 2 + 1];
    forward<M>(x, 2 * step, even_re, even_im);
    forward<M>(x + step, 2 * step, odd_re, odd_im);
    re[0] = hn::Add(even_re[0], odd_re[0]), im[0] = hn::Zero(D());
    re[M] = hn::Sub(even_re[0], odd_re[0]), im[M] = hn::Zero(D());
#pragma GCC unroll 16
    for (size_t k = 1; 2 * k <= M; ++k) {
      if (2 * k == M) {  // w^k = -i, and both spectra are real here
        re[k] = even_re[k];
        im[k] = hn::Neg(odd_re[k]);
        continue;
      }
      const T c = kCosinesSines<T, N>[k].cosine, s = kCosinesSines<T, N>[k].sine;
      const V a = add_times(times(odd_re[k], c), odd_im[k], s), b = add_times(times(odd_im[k], c), odd_re[k], -s);
      re[k] = hn::Add(even_re[k], a), im[k] = hn::Add(even_im[k], b);
      re[M - k] = hn::Sub(even_re[k], a), im[M - k] = hn::Sub(b, even_im[k]);
    }
  }

  template <size_t N>
  static HWY_INLINE void forward_odd(const V* x, size_t step, V* re, V* im) {
    constexpr size_t kHalf = N / 2;
    V sum[kHalf], difference[kHalf];
    V total = x[0];
#pragma GCC unroll 16
    for (size_t j = 0; j < kHalf; ++j) {
      sum[j] = hn::Add(x[(j + 1) * step], x[(N - 1 - j) * step]);
      difference[j] = hn::Sub(x[(N - 1 - j) * step], x[(j + 1) * step]);
      total = hn::Add(total, sum[j]);
    }
    re[0] = total, im[0] = hn::Zero(D());
#pragma GCC unroll 16
    for (size_t k = 1; k <= kHalf; ++k) {
      V a = add_times(x[0], sum[0], kCosinesSines<T, N>[k].cosine),
        b = times(difference[0], kCosinesSines<T, N>[k].sine);
#pragma GCC unroll 16
      for (size_t j = 1; j < kHalf; ++j) {
        a = add_times(a, sum[j], kCosinesSines<T, N>[(j + 1) * k % N].cosine);
        b = add_times(b, difference[j], kCosinesSines<T, N>[(j + 1) * k % N].sine);
      }
      re[k] = a, im[k] = b;
    }
  }

  // The inverse; im[0], and im[N/2] of even N, are not read.
  template <size_t N>
  static HWY_INLINE void inverse(const V* re, const V* im, V* x, size_t step) {
    if constexpr (N == 1) {
      x[0] = re[0];
    } else if constexpr (N == 2) {
      x[0] = hn::Add(re[0], re[1]), x[step] = hn::Sub(re[0], re[1]);
    } else if constexpr (N % 2 == 0) {
      inverse_even<N>(re, im, x, step);
    } else {
      inverse_odd<N>(re, im, x, step);
    }
  }

  template <size_t N>
  static HWY_INLINE void inverse_even(const V* re, const V* im, V* x, size_t step) {
    constexpr size_t M = N / 2;
    V even_re[M / 2 + 1], even_im[M / 2 + 1], odd_re[M / 2 + 1], odd_im[M / 2 + 1];
    even_re[0] = hn::Add(re[0], re[M]), odd_re[0] = hn::Sub(re[0], re[M]);
    even_im[0] = odd_im[0] = hn::Zero(D());
#pragma GCC unroll 16
    for (size_t k = 1; 2 * k <= M; ++k) {
      if (2 * k == M) {
        even_re[k] = hn::Add(re[k], re[k]), odd_re[k] = hn::Neg(hn::Add(im[k], im[k]));
        even_im[k] = odd_im[k] = hn::Zero(D());
        continue;
      }
      const T c = kCosinesSines<T, N>[k].cosine, s = kCosinesSines<T, N>[k].sine;
      even_re[k] = hn::Add(re[k], re[M - k]), even_im[k] = hn::Sub(im[k], im[M - k]);
      const V a = hn::Sub(re[k], re[M - k]), b = hn::Add(im[k], im[M - k]);
      odd_re[k] = add_times(times(a, c), b, -s), odd_im[k] = add_times(times(b, c), a, s);
    }
    inverse<M>(even_re, even_im, x, 2 * step);
    inverse<M>(odd_re, odd_im, x + step, 2 * step);
  }

  template <size_t N>
  static HWY_INLINE void inverse_odd(const V* re, const V* im, V* x, size_t step) {
    constexpr size_t kHalf = N / 2;
    V two_re[kHalf], two_im[kHalf];
    V total = re[0];
#pragma GCC unroll 16
    for (size_t k = 0; k < kHalf; ++k) {
      two_re[k] = hn::Add(re[k + 1], re[k + 1]), two_im[k] = hn::Add(im[k + 1], im[k + 1]);
      total = hn::Add(total, two_re[k]);
    }
    x[0] = total;
#pragma GCC unroll 16
    for (size_t j = 1; j <= kHalf; ++j) {
      V a = add_times(re[0], two_re[0], kCosinesSines<T, N>[j].cosine),
        b = times(two_im[0], kCosinesSines<T, N>[j].sine);
#pragma GCC unroll 16
      for (size_t k = 1; k < kHalf; ++k) {
        a = add_times(a, two_re[k], kCosinesSines<T, N>[(k + 1) * j % N].cosine);
        b = add_times(b, two_im[k], kCosinesSines<T, N>[(k + 1) * j % N].sine);
      }
      x[j * step] = hn::Sub(a, b), x[(N - j) * step] = hn::Add(a, b);
    }
  }

  // kCount values of each row; the last block overlaps the previous one if kCount is not a multiple of the lanes.
  template <size_t kCount>
  static HWY_INLINE void load(const T* in, size_t distance, V* x) {
    if constexpr (kRows == 1) {
#pragma GCC unroll 18
      for (size_t i = 0; i < kCount; ++i) x[i] = hn::LoadU(D(), in + i);
    } else {
#pragma GCC unroll 16
      for (size_t i = 0; i < kCount; i += kRows) {
        const size_t first = i + kRows <= kCount ? i : kCount - kRows;
        V block[kRows];
#pragma GCC unroll 16
        for (size_t r = 0; r < kRows; ++r) block[r] = hn::LoadU(D(), in + r * distance + first);
        Lanes::transpose(block);
#pragma GCC unroll 16
        for (size_t r = 0; r < kRows; ++r) x[first + r] = block[r];
      }
    }
  }

  template <size_t kCount>
  static HWY_INLINE void store(const V* x, T* out, size_t distance) {
    if constexpr (kRows == 1) {
#pragma GCC unroll 18
      for (size_t i = 0; i < kCount; ++i) hn::StoreU(x[i], D(), out + i);
    } else {
#pragma GCC unroll 16
      for (size_t i = 0; i < kCount; i += kRows) {
        const size_t first = i + kRows <= kCount ? i : kCount - kRows;
        V block[kRows];
#pragma GCC unroll 16
        for (size_t r = 0; r < kRows; ++r) block[r] = x[first + r];
        Lanes::transpose(block);
#pragma GCC unroll 16
        for (size_t r = 0; r < kRows; ++r) hn::StoreU(block[r], D(), out + r * distance + first);
      }
    }
  }

  template <size_t N>
  static HWY_INLINE void run_forward(const T* in, size_t in_distance, T* out, size_t out_distance) {
    constexpr size_t kHalf = N / 2 + 1;
    V x[N], re[kHalf], im[kHalf], z[2 * kHalf];
    load<N>(in, in_distance, x);
    forward<N>(x, 1, re, im);
#pragma GCC unroll 16
    for (size_t k = 0; k < kHalf; ++k) z[2 * k] = re[k], z[2 * k + 1] = im[k];
    store<2 * kHalf>(z, out, out_distance);
  }

  template <size_t N>
  static HWY_INLINE void run_inverse(const T* in, size_t in_distance, T* out, size_t out_distance) {
    constexpr size_t kHalf = N / 2 + 1;
    V x[N], re[kHalf], im[kHalf], z[2 * kHalf];
    load<2 * kHalf>(in, in_distance, z);
#pragma GCC unroll 16
    for (size_t k = 0; k < kHalf; ++k) re[k] = z[2 * k], im[k] = z[2 * k + 1];
    inverse<N>(re, im, x, 1);
    store<N>(x, out, out_distance);
  }
};

// Vectors of 128 bits: short rows do not fill longer ones, and transposes stay cheap on every target.
template <class T>
inline constexpr size_t kTinyRows = kWideLanes<T> < 16 / sizeof(T) ? kWideLanes<T> : 16 / sizeof(T);

template <class T, size_t N>
void tiny_forward(const T* in, size_t in_distance, T* out, size_t out_distance, size_t count) {
  constexpr size_t kRows = N < kTinyRows<T> ? 1 : kTinyRows<T>;
  for (; count >= kRows && kRows > 1; count -= kRows, in += kRows * in_distance, out += kRows * out_distance) {
    Rows<T, kRows>::template run_forward<N>(in, in_distance, out, out_distance);
  }
  for (; count > 0; --count, in += in_distance, out += out_distance) {
    Rows<T, 1>::template run_forward<N>(in, in_distance, out, out_distance);
  }
}

template <class T, size_t N>
void tiny_inverse(const T* in, size_t in_distance, T* out, size_t out_distance, size_t count) {
  constexpr size_t kRows = N < kTinyRows<T> ? 1 : kTinyRows<T>;
  for (; count >= kRows && kRows > 1; count -= kRows, in += kRows * in_distance, out += kRows * out_distance) {
    Rows<T, kRows>::template run_inverse<N>(in, in_distance, out, out_distance);
  }
  for (; count > 0; --count, in += in_distance, out += out_distance) {
    Rows<T, 1>::template run_inverse<N>(in, in_distance, out, out_distance);
  }
}

template <class T, size_t... kLess>
Tiny<T> tiny_of(size_t n, std::index_sequence<kLess...>) {
  static constexpr Tiny<T> kAll[] = {{tiny_forward<T, kLess + 1>, tiny_inverse<T, kLess + 1>}...};
  return kAll[n - 1];
}
