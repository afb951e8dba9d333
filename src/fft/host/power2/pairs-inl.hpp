// One short line in 512-bit vectors of interleaved complex numbers: radices 1 to 8 across the vectors, a twiddle, then
// the points within a vector, each step a shuffle and a fused multiply-add. Included once per target, inside
// HWY_NAMESPACE, for 64-byte vectors.

template <class Real, bool kInverseTransform, size_t kBytes>
struct Pairs {
  using T = Real;
  using D = hn::CappedTag<T, kBytes / sizeof(T)>;
  using V = hn::Vec<D>;
  static constexpr size_t kLanes = kBytes / sizeof(T), kPoints = kLanes / 2;
  struct Constants {
    V half;
  };
  static HWY_INLINE Constants constants() { return {hn::Set(D(), T(0.70710678118654752440))}; }

  // One, or minus one if bit p is set, for the real and the imaginary part of point p.
  static HWY_INLINE V signs(unsigned real, unsigned imaginary) {
    alignas(64) T values[kLanes];
#pragma GCC unroll 8
    for (size_t p = 0; p < kPoints; ++p) {
      values[2 * p] = (real >> p & 1) != 0 ? T(-1) : T(1);
      values[2 * p + 1] = (imaginary >> p & 1) != 0 ? T(-1) : T(1);
    }
    return hn::Load(D(), values);
  }
  static HWY_INLINE V swapped(V a) { return hn::Reverse2(D(), a); }
  static HWY_INLINE V add(V a, V b) { return hn::Add(a, b); }
  static HWY_INLINE V sub(V a, V b) { return hn::Sub(a, b); }
  // a - i b forward, a + i b inverse.
  static HWY_INLINE V add_rotated(V a, V b, bool forward) {
    return hn::MulAdd(swapped(b), forward ? signs(0x00, 0xff) : signs(0xff, 0x00), a);
  }
  static HWY_INLINE V rotate(V a, V b) { return add_rotated(a, b, !kInverseTransform); }
  static HWY_INLINE V unrotate(V a, V b) { return add_rotated(a, b, kInverseTransform); }
  static HWY_INLINE void add_sub_half(V a, V b, const Constants& c, V& plus, V& minus) {
    plus = hn::MulAdd(b, c.half, a);
    minus = hn::NegMulAdd(b, c.half, a);
  }
  // Factors as re, re ... and then -im, im ...
  static HWY_INLINE V times_lanes(const T* w, V x) {
    const V product = hn::Mul(x, hn::LoadU(D(), w)), im = hn::LoadU(D(), w + kLanes);
    return kInverseTransform ? hn::NegMulAdd(swapped(x), im, product) : hn::MulAdd(swapped(x), im, product);
  }

#define RIDGE_SHUFFLE2(a, b, ...) \
  V { __builtin_shufflevector((a).raw, (b).raw, __VA_ARGS__) }

  // Transforms the points within a vector; bins are in bit-reversed order.
  static HWY_INLINE V within(V x, const T* w) {
    if constexpr (kPoints == 8) {
      const V far = RIDGE_SHUFFLE2(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
      x = times_lanes(w, hn::MulAdd(x, signs(0xf0, 0xf0), far));
      const V near = RIDGE_SHUFFLE2(x, x, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
      x = hn::MulAdd(x, signs(0xcc, 0xcc), near);
      x = hn::Mul(RIDGE_SHUFFLE2(x, x, 0, 1, 2, 3, 4, 5, 7, 6, 8, 9, 10, 11, 12, 13, 15, 14), quarter_signs());
      const V beside = RIDGE_SHUFFLE2(x, x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
      return hn::MulAdd(x, signs(0xaa, 0xaa), beside);
    } else {
      const V far = RIDGE_SHUFFLE2(x, x, 4, 5, 6, 7, 0, 1, 2, 3);
      x = hn::MulAdd(x, signs(0xc, 0xc), far);
      x = hn::Mul(RIDGE_SHUFFLE2(x, x, 0, 1, 2, 3, 4, 5, 7, 6), quarter_signs());
      const V beside = RIDGE_SHUFFLE2(x, x, 2, 3, 0, 1, 6, 7, 4, 5);
      return hn::MulAdd(x, signs(0xa, 0xa), beside);
    }
  }
  // Multiplies every fourth point, whose parts are already exchanged, by -i (forward) or i (inverse).
  static HWY_INLINE V quarter_signs() { return kInverseTransform ? signs(0x88, 0x00) : signs(0x00, 0x88); }

  // Bin r + R k is point k of vector r, whose points are in bit-reversed order.
  template <size_t R>
  static HWY_INLINE void store(const V* x, T* out) {
    if constexpr (kPoints == 8) {
      if constexpr (R == 1) {
        hn::StoreU(RIDGE_SHUFFLE2(x[0], x[0], 0, 1, 8, 9, 4, 5, 12, 13, 2, 3, 10, 11, 6, 7, 14, 15), D(), out);
      } else {
        V y[R];
#pragma GCC unroll 4
        for (size_t r = 0; r < R; r += 2) {
          y[r] = RIDGE_SHUFFLE2(x[r], x[r + 1], 0, 1, 16, 17, 8, 9, 24, 25, 4, 5, 20, 21, 12, 13, 28, 29);
          y[r + 1] = RIDGE_SHUFFLE2(x[r], x[r + 1], 2, 3, 18, 19, 10, 11, 26, 27, 6, 7, 22, 23, 14, 15, 30, 31);
        }
        if constexpr (R == 2) {
          hn::StoreU(y[0], D(), out);
          hn::StoreU(y[1], D(), out + 16);
        } else {
          static_assert(R == 4);
#pragma GCC unroll 2
          for (size_t h = 0; h < 2; ++h) {
            T* const to = out + 32 * h;
            hn::StoreU(RIDGE_SHUFFLE2(y[h], y[h + 2], 0, 1, 2, 3, 16, 17, 18, 19, 4, 5, 6, 7, 20, 21, 22, 23), D(), to);
            hn::StoreU(RIDGE_SHUFFLE2(y[h], y[h + 2], 8, 9, 10, 11, 24, 25, 26, 27, 12, 13, 14, 15, 28, 29, 30, 31),
                       D(), to + 16);
          }
        }
      }
    } else {
      if constexpr (R == 1) {
        hn::StoreU(RIDGE_SHUFFLE2(x[0], x[0], 0, 1, 4, 5, 2, 3, 6, 7), D(), out);
      } else if constexpr (R == 2) {
        hn::StoreU(RIDGE_SHUFFLE2(x[0], x[1], 0, 1, 8, 9, 4, 5, 12, 13), D(), out);
        hn::StoreU(RIDGE_SHUFFLE2(x[0], x[1], 2, 3, 10, 11, 6, 7, 14, 15), D(), out + 8);
      } else {
        // Bin k of every four vectors becomes a vector: points in the order 0, 2, 1, 3.
#pragma GCC unroll 2
        for (size_t r = 0; r < R; r += 4) {
          const V a = RIDGE_SHUFFLE2(x[r], x[r + 1], 0, 1, 8, 9, 4, 5, 12, 13);
          const V b = RIDGE_SHUFFLE2(x[r], x[r + 1], 2, 3, 10, 11, 6, 7, 14, 15);
          const V c = RIDGE_SHUFFLE2(x[r + 2], x[r + 3], 0, 1, 8, 9, 4, 5, 12, 13);
          const V d = RIDGE_SHUFFLE2(x[r + 2], x[r + 3], 2, 3, 10, 11, 6, 7, 14, 15);
          T* const to = out + 2 * r;
          hn::StoreU(RIDGE_SHUFFLE2(a, c, 0, 1, 2, 3, 8, 9, 10, 11), D(), to);
          hn::StoreU(RIDGE_SHUFFLE2(a, c, 4, 5, 6, 7, 12, 13, 14, 15), D(), to + 2 * R);
          hn::StoreU(RIDGE_SHUFFLE2(b, d, 0, 1, 2, 3, 8, 9, 10, 11), D(), to + 4 * R);
          hn::StoreU(RIDGE_SHUFFLE2(b, d, 4, 5, 6, 7, 12, 13, 14, 15), D(), to + 6 * R);
        }
      }
    }
  }
};

template <class T, bool kInverseTransform, size_t N>
struct PairLine {
  // Four points of float fill half a vector.
  using P = Pairs<T, kInverseTransform, N == 4 ? 8 * sizeof(T) : 64>;
  static constexpr size_t K = P::kPoints, R = N / K;
  static void run(const T* in, size_t in_distance, T* out, size_t out_distance, size_t count, const T* const* tables,
                  T*) {
    const T* const w = tables[0];
    for (size_t i = 0; i < count; ++i, in += 2 * in_distance, out += 2 * out_distance) {
      typename P::V x[R];
#pragma GCC unroll 8
      for (size_t r = 0; r < R; ++r) x[r] = hn::LoadU(typename P::D(), in + 2 * K * r);
      butterfly<P, R>(x, P::constants());
#pragma GCC unroll 8
      for (size_t r = 1; r < R; ++r) x[r] = P::times_lanes(w + 2 * P::kLanes * r, x[r]);
#pragma GCC unroll 8
      for (size_t r = 0; r < R; ++r) x[r] = P::within(x[r], w);
      P::template store<R>(x, out);
    }
  }
};

template <class T, size_t N>
constexpr Line<T> pair_line() {
  using Forward = PairLine<T, false, N>;
  using Inverse = PairLine<T, true, N>;
  Line<T> entry{N, Forward::K, {N}, {Forward::run, Inverse::run}, {nullptr, nullptr}};
  entry.tables = LineTableKind::pairs;
  return entry;
}
