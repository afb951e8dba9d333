// Radix-8 lines in vectors of sixteen lanes: the first pass transposes eight vectors against pairs of lanes, the second
// separates the pairs, and each has enough arithmetic to hide its shuffles. Radix 16 would transpose sixteen by sixteen
// at once and need more registers than there are. Row p of the first pass is eight results; rows 2 i and 2 i + 1 share
// a vector, result k of them in lanes 2 k and 2 k + 1. After the second pass the layout is that of passes of radix 16
// and 4, and the passes of lines-inl.hpp continue. Included once per target, inside HWY_NAMESPACE, for vectors of
// sixteen floats.

template <class P>
struct Eights {
  using T = typename P::T;
  using V = typename P::V;
  using R1 = typename P::R1;
  using D = typename P::D;
  using Wide = Split<double, 8, false>;

  // Sixteen points in order, from the caller's or the inner layout.
  template <bool kUser>
  static HWY_INLINE V load(const T* p) {
    if constexpr (kUser) {
      const R1 a = hn::LoadU(D(), p), b = hn::LoadU(D(), p + 16);
      const R1 even = RIDGE_SHUFFLE(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
      const R1 odd = RIDGE_SHUFFLE(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31);
      return P::kSwapped ? V{odd, even} : V{even, odd};
    } else {
      const V v = P::load(p);
      return {RIDGE_SHUFFLE(v.re, v.re, 0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15),
              RIDGE_SHUFFLE(v.im, v.im, 0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15)};
    }
  }
  // Transposes pairs of lanes against vectors.
  static HWY_INLINE void transpose_pairs(R1* v) {
    typename Wide::R1 w[8];
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) w[i] = hn::BitCast(typename Wide::D(), v[i]);
    Wide::transpose(w);
#pragma GCC unroll 8
    for (size_t i = 0; i < 8; ++i) v[i] = hn::BitCast(D(), w[i]);
  }
  // One factor for even lanes and one for odd lanes: real parts of both, then imaginary parts.
  static HWY_INLINE V times_pair(const T* w, V x) {
    const typename Wide::D d;
    double re, im;
    __builtin_memcpy(&re, w, sizeof(re));
    __builtin_memcpy(&im, w + 2, sizeof(im));
    return P::times(hn::BitCast(D(), hn::Set(d, re)), hn::BitCast(D(), hn::Set(d, im)), x);
  }

  template <size_t N, bool kUser>
  static HWY_INLINE void first(const T* x, T* y, const T* twiddles) {
    constexpr size_t m = N / 8;
    const typename P::Constants c = P::constants();
    for (size_t p = 0; p < m; p += 16, twiddles += 32 * 7) {
      V r[8];
#pragma GCC unroll 8
      for (size_t q = 0; q < 8; ++q) r[q] = load<kUser>(x + 2 * (p + m * q));
      butterfly8<P>(r, c);
#pragma GCC unroll 8
      for (size_t k = 1; k < 8; ++k) r[k] = P::times_lanes(twiddles + 32 * (k - 1), r[k]);
      R1 re[8], im[8];
#pragma GCC unroll 8
      for (size_t k = 0; k < 8; ++k) re[k] = r[k].re, im[k] = r[k].im;
      transpose_pairs(re);
      transpose_pairs(im);
#pragma GCC unroll 8
      for (size_t j = 0; j < 8; ++j) P::store(y + 16 * p + 32 * j, V{re[j], im[j]});
    }
  }

  template <size_t N>
  static HWY_INLINE void second(const T* y, T* z, const T* twiddles) {
    constexpr size_t pairs = N / 128;
    const typename P::Constants c = P::constants();
    for (size_t i = 0; i < pairs; ++i, z += 256, twiddles += 4 * 7) {
      V r[8];
#pragma GCC unroll 8
      for (size_t j = 0; j < 8; ++j) r[j] = P::load(y + 32 * (i + pairs * j));
      butterfly8<P>(r, c);
#pragma GCC unroll 8
      for (size_t k = 1; k < 8; ++k) r[k] = times_pair(twiddles + 4 * (k - 1), r[k]);
#pragma GCC unroll 4
      for (size_t k = 0; k < 8; k += 2) {
        const V a = r[k], b = r[k + 1];
        P::store(z + 16 * k, V{hn::OddEven(hn::Reverse2(D(), b.re), a.re), hn::OddEven(hn::Reverse2(D(), b.im), a.im)});
        P::store(z + 128 + 16 * k,
                 V{hn::OddEven(b.re, hn::Reverse2(D(), a.re)), hn::OddEven(b.im, hn::Reverse2(D(), a.im))});
      }
    }
  }
};

template <class P, size_t N, bool kUser, class T = typename P::T>
[[gnu::noinline]] void eights_first(const T* x, T* y, const T* twiddles) {
  Eights<P>::template first<N, kUser>(x, y, twiddles);
}
template <class P, size_t N, class T = typename P::T>
[[gnu::noinline]] void eights_second(const T* y, T* z, const T* twiddles) {
  Eights<P>::template second<N>(y, z, twiddles);
}

template <class P, bool kUser, size_t C, size_t D = 1>
struct EightsOf {
  using T = typename P::T;
  static constexpr size_t N = 64 * C * D;
  static void run(const T* in, size_t in_distance, T* out, size_t out_distance, size_t count, const T* const* tables,
                  T* scratch) {
    using Core = typename P::Core;
    using First = typename Pick<kUser, P, Core>::Type;
    T* const z = scratch + 2 * N + kBufferPad / sizeof(T);
    for (size_t i = 0; i < count; ++i, in += 2 * in_distance, out += 2 * out_distance) {
      T* const y = D == 1 && N * sizeof(T) >= 8192 && in != out ? out : scratch;
      eights_first<First, N, kUser>(in, y, tables[0]);
      eights_second<Core, N>(y, z, tables[1]);
      if constexpr (D == 1) {
        last_pass_call<P, N, C, 16, 4, 1>(z, out);
      } else {
        middle_pass_call<Core, N, 64, C>(z, y, tables[2]);
        last_pass_call<P, N, D, 16, 4, C>(y, out);
      }
    }
  }
};

template <size_t C, size_t D = 1>
constexpr Line<float> eights() {
  using Forward = Split<float, 16, false>;
  using Inverse = Split<float, 16, true>;
  Line<float> entry{64 * C * D,
                    16,
                    {8, 8, C, D == 1 ? 0 : D},
                    {EightsOf<Forward, true, C, D>::run, EightsOf<Inverse, true, C, D>::run},
                    {EightsOf<Forward, false, C, D>::run, EightsOf<Inverse, false, C, D>::run}};
  entry.tables = LineTableKind::eights;
  return entry;
}
