// Stockham passes. Included inside the namespace of each instruction set.
//
// A pass of radix R after `groups` = product of the radices before it: group g holds R streams of `inner` points each;
// stream s is multiplied by W^(g s), the butterflies run across the streams, and result t of the group goes to
// [t][g][inner]. If inner is not a multiple of the vector, the last vector of a group starts earlier and repeats some
// butterflies, which is harmless because input and output are different memory.

template <class P, bool kInverse, class T = typename P::T>
HWY_INLINE typename P::V load_points(const T* p) {
  constexpr size_t L = P::kLanes;
  const typename P::D d;
  typename P::R1 a = hn::LoadU(d, p), b = hn::LoadU(d, p + L), re = a, im = b;
  if constexpr (L > 1 && L * sizeof(T) <= 16) {
    re = ConcatEven(d, b, a);
    im = ConcatOdd(d, b, a);
  } else if constexpr (L > 1) {
    hn::LoadInterleaved2(d, p, re, im);
  }
  return kInverse ? typename P::V(im, re) : typename P::V(re, im);
}

template <class P, bool kInverse, class T = typename P::T>
HWY_INLINE void store_points(T* p, typename P::V v) {
  constexpr size_t L = P::kLanes;
  const typename P::D d;
  const typename P::R1 re = kInverse ? v.im : v.re, im = kInverse ? v.re : v.im;
  if constexpr (L == 1) {
    hn::StoreU(re, d, p);
    hn::StoreU(im, d, p + 1);
  } else if constexpr (L * sizeof(T) <= 16) {
    // Not StoreInterleaved2: ST2 is three times as slow as two zips and a pair of stores.
    hn::StoreU(InterleaveLower(d, re, im), d, p);
    hn::StoreU(InterleaveUpper(d, re, im), d, p + L);
  } else {
    hn::StoreInterleaved2(re, im, d, p);
  }
}

template <class P, class T = typename P::T>
HWY_INLINE typename P::V load_planes(const T* p, size_t plane) {
  const typename P::D d;
  return typename P::V(hn::LoadU(d, p), hn::LoadU(d, p + plane));
}

template <class P, class T = typename P::T>
HWY_INLINE void store_planes(T* p, size_t plane, typename P::V v) {
  const typename P::D d;
  hn::StoreU(v.re, d, p);
  hn::StoreU(v.im, d, p + plane);
}

template <class P, size_t R, bool kInverse, class T = typename P::T>
void first_pass(const T* in, size_t in_stream, size_t inner, T* y, size_t plane, size_t out_stream) {
  constexpr size_t L = P::kLanes;
  const typename P::Constants c = P::constants();
  for (size_t k = 0;; k += L) {
    if (k + L > inner) {
      if (k >= inner) break;
      k = inner - L;
    }
    typename P::V r[R];
#pragma GCC unroll 16
    for (size_t s = 0; s < R; ++s) r[s] = load_points<P, kInverse>(in + 2 * (k + s * in_stream));
    any_butterfly<P, R>(r, c);
#pragma GCC unroll 16
    for (size_t t = 0; t < R; ++t) store_planes<P>(y + k + t * out_stream, plane, r[t]);
  }
}

template <class P, size_t R, class T = typename P::T>
void middle_pass(const T* x, T* y, size_t plane, size_t groups, size_t inner, const T* twiddles) {
  constexpr size_t L = P::kLanes;
  const typename P::Constants c = P::constants();
  const size_t out_stream = groups * inner;
  for (size_t g = 0; g < groups; ++g, x += R * inner, y += inner, twiddles += 2 * (R - 1)) {
    for (size_t k = 0;; k += L) {
      if (k + L > inner) {
        if (k >= inner) break;
        k = inner - L;
      }
      typename P::V r[R];
#pragma GCC unroll 16
      for (size_t s = 0; s < R; ++s) r[s] = load_planes<P>(x + k + s * inner, plane);
#pragma GCC unroll 16
      for (size_t s = 1; s < R; ++s) r[s] = P::times_same(twiddles + 2 * (s - 1), r[s]);
      any_butterfly<P, R>(r, c);
#pragma GCC unroll 16
      for (size_t t = 0; t < R; ++t) store_planes<P>(y + k + t * out_stream, plane, r[t]);
    }
  }
}

template <class P, size_t R, bool kInverse, class T = typename P::T>
void out_pass(const T* x, size_t plane, size_t groups, size_t inner, const T* twiddles, T* out, size_t group_step,
              size_t out_stream) {
  constexpr size_t L = P::kLanes;
  const typename P::Constants c = P::constants();
  for (size_t g = 0; g < groups; ++g, x += R * inner, out += 2 * group_step, twiddles += 2 * (R - 1)) {
    for (size_t k = 0;; k += L) {
      if (k + L > inner) {
        if (k >= inner) break;
        k = inner - L;
      }
      typename P::V r[R];
#pragma GCC unroll 16
      for (size_t s = 0; s < R; ++s) r[s] = load_planes<P>(x + k + s * inner, plane);
#pragma GCC unroll 16
      for (size_t s = 1; s < R; ++s) r[s] = P::times_same(twiddles + 2 * (s - 1), r[s]);
      any_butterfly<P, R>(r, c);
#pragma GCC unroll 16
      for (size_t t = 0; t < R; ++t) store_points<P, kInverse>(out + 2 * (k + t * out_stream), r[t]);
    }
  }
}

// Lanes are groups. R neighbours of each of L groups are loaded as L vectors and transposed, L points at a time. If R
// is not a multiple of L, the last of them overlap the previous ones, or (R < L) extend into the next group.
template <class P, size_t R, bool kInverse, class T = typename P::T>
void last_pass(const T* x, size_t plane, size_t groups, const T* twiddles, T* out) {
  constexpr size_t L = P::kLanes;
  const typename P::Constants c = P::constants();
  const typename P::D d;
  for (size_t g = 0;; g += L, twiddles += 2 * L * (R - 1)) {
    if (g + L > groups) {
      if (g >= groups) break;
      g = groups - L;
    }
    typename P::V r[R < L ? L : R];
#pragma GCC unroll 16
    for (size_t chunk = 0; chunk < R; chunk += L) {
      const size_t b = R >= L && chunk + L > R ? R - L : chunk;
      typename P::R1 re[L], im[L];
#pragma GCC unroll 16
      for (size_t l = 0; l < L; ++l) {
        re[l] = hn::LoadU(d, x + (g + l) * R + b);
        im[l] = hn::LoadU(d, x + (g + l) * R + b + plane);
      }
      P::transpose(re);
      P::transpose(im);
#pragma GCC unroll 16
      for (size_t i = 0; i < L; ++i) r[b + i] = typename P::V(re[i], im[i]);
    }
#pragma GCC unroll 16
    for (size_t s = 1; s < R; ++s) {
      const T* w = twiddles + 2 * L * (s - 1);
      r[s] = P::times(hn::LoadU(d, w), hn::LoadU(d, w + L), r[s]);
    }
    any_butterfly<P, R>(r, c);
#pragma GCC unroll 16
    for (size_t t = 0; t < R; ++t) store_points<P, kInverse>(out + 2 * (g + t * groups), r[t]);
  }
}

template <class P, size_t R, bool kInverse, class T = typename P::T>
HWY_INLINE void whole_line(const T* in, size_t in_stream, T* out, size_t out_stream, const typename P::Constants& c) {
  typename P::V r[R];
#pragma GCC unroll 16
  for (size_t s = 0; s < R; ++s) r[s] = load_points<P, kInverse>(in + 2 * s * in_stream);
  any_butterfly<P, R>(r, c);
#pragma GCC unroll 16
  for (size_t t = 0; t < R; ++t) store_points<P, kInverse>(out + 2 * t * out_stream, r[t]);
}

// A single complex number is a vector: eighth and sixteenth roots have no such form, and power2 handles those lengths.
template <class T, size_t R, bool kInverse>
HWY_INLINE void whole_alone(const T* in, size_t in_stream, T* out, size_t out_stream) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (R != 8 && R != 16) {
    using P = Pair<T, kInverse>;
    typename P::V r[R];
#pragma GCC unroll 16
    for (size_t s = 0; s < R; ++s) r[s] = P::load(in + 2 * s * in_stream);
    any_butterfly<P, R>(r, P::constants());
#pragma GCC unroll 16
    for (size_t t = 0; t < R; ++t) P::store(out + 2 * t * out_stream, r[t]);
    return;
  }
#endif
  using P = Planes<T, 1>;
  whole_line<P, R, kInverse>(in, in_stream, out, out_stream, P::constants());
}

// May run in place, so the remainder is done one by one and nothing twice.
template <class Wide, size_t R, bool kInverse, class T = typename Wide::T>
void whole(const T* in, size_t in_stream, size_t inner, T* out, size_t out_stream) {
  constexpr size_t L = Wide::kLanes;
  size_t k = 0;
  if (inner >= L) {
    const typename Wide::Constants c = Wide::constants();
    for (; k + L <= inner; k += L) whole_line<Wide, R, kInverse>(in + 2 * k, in_stream, out + 2 * k, out_stream, c);
  }
  for (; k < inner; ++k) whole_alone<T, R, kInverse>(in + 2 * k, in_stream, out + 2 * k, out_stream);
}

// Transposes L points of L transforms: r[i] holds point i of all of them.
template <class P, bool kInverse, class T = typename P::T>
HWY_INLINE void gather_square(const T* in, size_t distance, typename P::V* r) {
  constexpr size_t L = P::kLanes;
  typename P::R1 re[L], im[L];
#pragma GCC unroll 16
  for (size_t l = 0; l < L; ++l) {
    const typename P::V v = load_points<P, kInverse>(in + 2 * l * distance);
    re[l] = v.re, im[l] = v.im;
  }
  P::transpose(re);
  P::transpose(im);
#pragma GCC unroll 16
  for (size_t i = 0; i < L; ++i) r[i] = typename P::V(re[i], im[i]);
}

template <class P, bool kInverse, class T = typename P::T>
HWY_INLINE void scatter_square(const typename P::V* r, T* out, size_t distance) {
  constexpr size_t L = P::kLanes;
  typename P::R1 re[L], im[L];
#pragma GCC unroll 16
  for (size_t i = 0; i < L; ++i) re[i] = r[i].re, im[i] = r[i].im;
  P::transpose(re);
  P::transpose(im);
#pragma GCC unroll 16
  for (size_t l = 0; l < L; ++l) store_points<P, kInverse>(out + 2 * l * distance, typename P::V(re[l], im[l]));
}

// The last square of points starts earlier if L does not divide R.
template <class P, size_t R, bool kInverse, class T = typename P::T>
void batch(const T* in, size_t in_distance, T* out, size_t out_distance) {
  constexpr size_t L = P::kLanes;
  const typename P::Constants c = P::constants();
  typename P::V r[R];
#pragma GCC unroll 16
  for (size_t chunk = 0; chunk < R; chunk += L) {
    const size_t b = chunk + L > R ? R - L : chunk;
    gather_square<P, kInverse>(in + 2 * b, in_distance, r + b);
  }
  any_butterfly<P, R>(r, c);
#pragma GCC unroll 16
  for (size_t chunk = 0; chunk < R; chunk += L) {
    const size_t b = chunk + L > R ? R - L : chunk;
    scatter_square<P, kInverse>(r + b, out + 2 * b, out_distance);
  }
}

template <class P, bool kInverse, class T = typename P::T>
void gather(const T* in, size_t distance, size_t n, T* y, size_t plane) {
  constexpr size_t L = P::kLanes;
  for (size_t chunk = 0; chunk < n; chunk += L) {
    const size_t b = chunk + L > n ? n - L : chunk;
    typename P::V r[L];
    gather_square<P, kInverse>(in + 2 * b, distance, r);
#pragma GCC unroll 16
    for (size_t i = 0; i < L; ++i) store_planes<P>(y + (b + i) * L, plane, r[i]);
  }
}

template <class P, bool kInverse, class T = typename P::T>
void scatter(const T* x, size_t plane, size_t n, T* out, size_t distance) {
  constexpr size_t L = P::kLanes;
  for (size_t chunk = 0; chunk < n; chunk += L) {
    const size_t b = chunk + L > n ? n - L : chunk;
    typename P::V r[L];
#pragma GCC unroll 16
    for (size_t i = 0; i < L; ++i) r[i] = load_planes<P>(x + (b + i) * L, plane);
    scatter_square<P, kInverse>(r, out + 2 * b, distance);
  }
}

template <class P, size_t R, bool kInverse, class T = typename P::T>
constexpr typename Codelet<T>::Batch batch_or_none() {
  if constexpr (R >= P::kLanes) return batch<P, R, kInverse>;
  return nullptr;
}

// Vectors longer than 256 bits would leave most passes of common lengths without a full vector.
template <class T>
inline constexpr size_t kMixedLanes = kWideLanes<T> * sizeof(T) > 32 ? 32 / sizeof(T) : kWideLanes<T>;

template <class T, size_t R>
constexpr Codelet<T> codelet() {
  using Wide = Planes<T, kMixedLanes<T>>;
  using One = Planes<T, 1>;
  return {R,
          {first_pass<Wide, R, false>, first_pass<Wide, R, true>},
          {first_pass<One, R, false>, first_pass<One, R, true>},
          middle_pass<Wide, R>,
          middle_pass<One, R>,
          {last_pass<Wide, R, false>, last_pass<Wide, R, true>},
          {out_pass<Wide, R, false>, out_pass<Wide, R, true>},
          {out_pass<One, R, false>, out_pass<One, R, true>},
          {whole<Wide, R, false>, whole<Wide, R, true>},
          {batch_or_none<Wide, R, false>(), batch_or_none<Wide, R, true>()}};
}
