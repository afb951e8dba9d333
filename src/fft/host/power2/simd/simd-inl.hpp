// Split arithmetic in Highway: a vector of complex numbers is one vector of real parts and one of imaginary parts.
// Rotations by i are free, products take four operations; data is split at the first load and interleaved at the last
// store. The inverse swaps real and imaginary parts at those two places and shares everything else. Included once per
// target, inside HWY_NAMESPACE, after hwy/highway.h.

namespace hn = hwy::HWY_NAMESPACE;
using std::size_t;

#if HWY_TARGET == HWY_SCALAR
template <class T>
inline constexpr size_t kWideLanes = 1;
// Placeholders for Highway's scalar target, which has no such shuffles; never called.
template <class D, class V>
V ConcatEven(D, V, V lo) {
  return lo;
}
template <class D, class V>
V ConcatOdd(D, V, V lo) {
  return lo;
}
template <class D, class V>
V InterleaveLower(D, V a, V) {
  return a;
}
template <class D, class V>
V InterleaveUpper(D, V a, V) {
  return a;
}
template <class D, class V>
V ConcatLowerLower(D, V, V lo) {
  return lo;
}
template <class D, class V>
V ConcatUpperUpper(D, V, V lo) {
  return lo;
}
#else
template <class T>
inline constexpr size_t kWideLanes = HWY_LANES(T);
using hn::ConcatEven;
using hn::ConcatLowerLower;
using hn::ConcatOdd;
using hn::ConcatUpperUpper;
using hn::InterleaveLower;
using hn::InterleaveUpper;
#endif

// 16 architectural registers: only radix 4 fits them.
inline constexpr bool kFewRegisters = HWY_ARCH_X86 && HWY_TARGET != HWY_AVX3 && HWY_TARGET != HWY_AVX3_DL;

template <class Real, size_t kLaneCount, bool kInverseTransform>
struct Split {
  using T = Real;
  using D = hn::CappedTag<T, kLaneCount>;
  using R1 = hn::Vec<D>;
  struct V {
    // Explicit, because the compiler's own would be outside Highway's target attributes.
    HWY_INLINE V() {}
    HWY_INLINE V(R1 real, R1 imaginary) : re(real), im(imaginary) {}
    R1 re, im;
  };
  using Core = Split<Real, kLaneCount, false>;
  static constexpr bool kSwapped = kInverseTransform;  // parts are exchanged at the first load and the last store
  static constexpr size_t kLanes = kLaneCount, kSame = 2, kRegisters = kFewRegisters ? 8 : 16;
  static constexpr size_t kLine = 64 / (2 * sizeof(T)), kStrip = kLanes > kLine ? kLanes : kLine;
  // Beyond one 128-bit block, lane l of an inner vector holds point (l % 2) * L / 2 + l / 2: the order that needs no
  // shuffles across blocks on x86 at load or store.
  static constexpr bool kFolded = kLanes * sizeof(T) > 16;
  static constexpr size_t point(size_t lane) { return kFolded ? (lane % 2) * (kLanes / 2) + lane / 2 : lane; }

  struct Constants {
    R1 cos1, sin1, half;
  };
  static HWY_INLINE Constants constants() {
    return {hn::Set(D(), T(0.92387953251128675613)), hn::Set(D(), T(0.38268343236508977173)),
            hn::Set(D(), T(0.70710678118654752440))};
  }
  static HWY_INLINE V load(const T* p) { return {hn::LoadU(D(), p), hn::LoadU(D(), p + kLanes)}; }
  static HWY_INLINE void store(T* p, V v) {
    hn::StoreU(v.re, D(), p);
    hn::StoreU(v.im, D(), p + kLanes);
  }
  static HWY_INLINE V load_user(const T* p) {
    const R1 a = hn::LoadU(D(), p), b = hn::LoadU(D(), p + kLanes);
    R1 re, im;
    if constexpr (kLanes == 1) {
      re = a, im = b;
    } else if constexpr (kFolded) {
      re = hn::OddEven(hn::Reverse2(D(), b), a);
      im = hn::OddEven(b, hn::Reverse2(D(), a));
    } else {
      re = ConcatEven(D(), b, a);
      im = ConcatOdd(D(), b, a);
    }
    return kInverseTransform ? V{im, re} : V{re, im};
  }
  static HWY_INLINE void store_user(T* p, V v) {
    const R1 re = kInverseTransform ? v.im : v.re, im = kInverseTransform ? v.re : v.im;
    R1 a, b;
    if constexpr (kLanes == 1) {
      a = re, b = im;
    } else if constexpr (kFolded) {
      a = hn::OddEven(hn::Reverse2(D(), im), re);
      b = hn::OddEven(im, hn::Reverse2(D(), re));
    } else {
      a = InterleaveLower(D(), re, im);
      b = InterleaveUpper(D(), re, im);
    }
    hn::StoreU(a, D(), p);
    hn::StoreU(b, D(), p + kLanes);
  }
  static HWY_INLINE V add(V a, V b) { return {hn::Add(a.re, b.re), hn::Add(a.im, b.im)}; }
  static HWY_INLINE V sub(V a, V b) { return {hn::Sub(a.re, b.re), hn::Sub(a.im, b.im)}; }
  static HWY_INLINE V rotate(V a, V b) { return {hn::Add(a.re, b.im), hn::Sub(a.im, b.re)}; }
  static HWY_INLINE V unrotate(V a, V b) { return {hn::Sub(a.re, b.im), hn::Add(a.im, b.re)}; }
  static HWY_INLINE V times(R1 re, R1 im, V x) {
    return {hn::NegMulAdd(x.im, im, hn::Mul(x.re, re)), hn::MulAdd(x.re, im, hn::Mul(x.im, re))};
  }
  static HWY_INLINE V times_lanes(const T* w, V x) { return times(hn::LoadU(D(), w), hn::LoadU(D(), w + kLanes), x); }
  static HWY_INLINE V times_same(const T* w, V x) { return times(hn::Set(D(), w[0]), hn::Set(D(), w[1]), x); }
  static HWY_INLINE V times_root1(V x, const Constants& c) {
    return {hn::MulAdd(x.im, c.sin1, hn::Mul(x.re, c.cos1)), hn::NegMulAdd(x.re, c.sin1, hn::Mul(x.im, c.cos1))};
  }
  static HWY_INLINE V times_root3(V x, const Constants& c) {
    return {hn::MulAdd(x.im, c.cos1, hn::Mul(x.re, c.sin1)), hn::NegMulAdd(x.re, c.cos1, hn::Mul(x.im, c.sin1))};
  }
  static HWY_INLINE void add_sub_half(V a, V b, const Constants& c, V& plus, V& minus) {
    plus = {hn::MulAdd(b.re, c.half, a.re), hn::MulAdd(b.im, c.half, a.im)};
    minus = {hn::NegMulAdd(b.re, c.half, a.re), hn::NegMulAdd(b.im, c.half, a.im)};
  }
  static HWY_INLINE void rotate_half(V a, V b, const Constants& c, V& minus_i, V& plus_i) {
    minus_i = {hn::MulAdd(b.im, c.half, a.re), hn::NegMulAdd(b.re, c.half, a.im)};
    plus_i = {hn::NegMulAdd(b.im, c.half, a.re), hn::MulAdd(b.re, c.half, a.im)};
  }

  // v[i] lane j becomes v[j] lane i.
  static HWY_INLINE void transpose(R1* v) {
    constexpr size_t L = kLanes, kInBlock = L * sizeof(T) < 16 ? L : 16 / sizeof(T);
    if constexpr (kInBlock == 4) {
#pragma GCC unroll 4
      for (size_t j = 0; j < L; j += 4) {
        const R1 ac = InterleaveLower(D(), v[j], v[j + 2]), AC = InterleaveUpper(D(), v[j], v[j + 2]);
        const R1 bd = InterleaveLower(D(), v[j + 1], v[j + 3]), BD = InterleaveUpper(D(), v[j + 1], v[j + 3]);
        v[j] = InterleaveLower(D(), ac, bd);
        v[j + 1] = InterleaveUpper(D(), ac, bd);
        v[j + 2] = InterleaveLower(D(), AC, BD);
        v[j + 3] = InterleaveUpper(D(), AC, BD);
      }
    } else if constexpr (kInBlock == 2) {
#pragma GCC unroll 4
      for (size_t j = 0; j < L; j += 2) {
        const R1 a = v[j], b = v[j + 1];
        v[j] = InterleaveLower(D(), a, b);
        v[j + 1] = InterleaveUpper(D(), a, b);
      }
    }
    transpose_blocks(v);
  }

  // Block i of v[j] becomes block j / kInBlock of v[i * kInBlock + j % kInBlock].
  static HWY_INLINE void transpose_blocks(R1* v) {
    constexpr size_t L = kLanes, kInBlock = L * sizeof(T) < 16 ? L : 16 / sizeof(T);
#if HWY_TARGET == HWY_AVX3
    if constexpr (L == 4 * kInBlock) {
#pragma GCC unroll 4
      for (size_t j = 0; j < kInBlock; ++j) {
        R1 &a = v[j], &b = v[j + kInBlock], &c = v[j + 2 * kInBlock], &d = v[j + 3 * kInBlock];
        const R1 p = ConcatLowerLower(D(), b, a), q = ConcatUpperUpper(D(), b, a);
        const R1 r = ConcatLowerLower(D(), d, c), s = ConcatUpperUpper(D(), d, c);
        a = blocks<0>(p, r), b = blocks<1>(p, r), c = blocks<0>(q, s), d = blocks<1>(q, s);
      }
      return;
    }
#endif
    if constexpr (L >= 2 * kInBlock && L > 1) {
      // Exchanges halves of the vectors with the upper half of the registers.
#pragma GCC unroll 8
      for (size_t j = 0; j < L / 2; ++j) {
        const R1 a = v[j], b = v[j + L / 2];
        v[j] = ConcatLowerLower(D(), b, a);
        v[j + L / 2] = ConcatUpperUpper(D(), b, a);
      }
    }
    if constexpr (L >= 4 * kInBlock) {
      static_assert(L == 4 * kInBlock);
#pragma GCC unroll 16
      for (size_t j = 0; j < L; ++j) {
        if ((j & kInBlock) != 0) continue;
        const R1 a = v[j], b = v[j + kInBlock];
        v[j] = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
        v[j + kInBlock] = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
      }
    }
  }
#if HWY_TARGET == HWY_AVX3
  // The even (kOdd 0) or odd (kOdd 1) 128-bit blocks of a, then those of b: one instruction, where blends take two.
  template <int kOdd>
  static HWY_INLINE R1 blocks(R1 a, R1 b) {
    constexpr int k = 4 * kOdd, h = 2 * kOdd;
    if constexpr (sizeof(T) == 4) {
      return R1{__builtin_shufflevector(a.raw, b.raw, k, k + 1, k + 2, k + 3, k + 8, k + 9, k + 10, k + 11, k + 16,
                                        k + 17, k + 18, k + 19, k + 24, k + 25, k + 26, k + 27)};
    } else {
      return R1{__builtin_shufflevector(a.raw, b.raw, h, h + 1, h + 4, h + 5, h + 8, h + 9, h + 12, h + 13)};
    }
  }
#endif

  // Stores R results of kLanes transforms as kLanes rows of R points: transposes kLanes results at a time. Results and
  // lanes are in the order of point().
  template <size_t R>
  static HWY_INLINE void store_transposed(T* y, const V* r) {
    constexpr size_t L = kLanes;
#pragma GCC unroll 16
    for (size_t b = 0; b < R; b += L) {
      R1 re[L], im[L];
#pragma GCC unroll 16
      for (size_t i = 0; i < L; ++i) re[i] = r[b + point(i)].re, im[i] = r[b + point(i)].im;
      transpose(re);
      transpose(im);
#pragma GCC unroll 16
      for (size_t l = 0; l < L; ++l) store(y + 2 * (R * point(l) + b), V{re[l], im[l]});
    }
  }

  // Converts `kLanes` transforms to vectors with one transform per lane, and back; L points of each at a time.
  static HWY_INLINE void gather_block(const T* in, size_t distance, V* r) {
    constexpr size_t L = kLanes;
    R1 re[L], im[L];
#pragma GCC unroll 16
    for (size_t i = 0; i < L; ++i) {
      const V v = load_user(in + 2 * distance * i);
      re[i] = v.re, im[i] = v.im;
    }
    transpose(re);
    transpose(im);
#pragma GCC unroll 16
    for (size_t i = 0; i < L; ++i) r[point(i)] = V{re[i], im[i]};
  }
  static HWY_INLINE void scatter_block(T* out, size_t distance, const V* r) {
    constexpr size_t L = kLanes;
    R1 re[L], im[L];
#pragma GCC unroll 16
    for (size_t i = 0; i < L; ++i) re[i] = r[point(i)].re, im[i] = r[point(i)].im;
    transpose(re);
    transpose(im);
#pragma GCC unroll 16
    for (size_t i = 0; i < L; ++i) store_user(out + 2 * distance * i, V{re[i], im[i]});
  }
  template <size_t N>
  static HWY_INLINE void gather(const T* in, size_t distance, V* r) {
#pragma GCC unroll 16
    for (size_t b = 0; b < N; b += kLanes) gather_block(in + 2 * b, distance, r + b);
  }
  template <size_t N>
  static HWY_INLINE void scatter(T* out, size_t distance, const V* r) {
#pragma GCC unroll 16
    for (size_t b = 0; b < N; b += kLanes) scatter_block(out + 2 * b, distance, r + b);
  }

  // Transposes a tile: kLine points of each of kLine sources become kLine rows of one cache line each. A complex float
  // is moved as one double.
  static HWY_INLINE void transpose_tile(const T* const* source, size_t at, T* out, size_t row) {
    if constexpr (sizeof(T) == 8 || kWideLanes<T> == 1) {
      for (size_t k = 0; k < kLine; ++k) {
        for (size_t i = 0; i < kLine; ++i) {
          out[k * row + 2 * i] = source[i][at + 2 * k];
          out[k * row + 2 * i + 1] = source[i][at + 2 * k + 1];
        }
      }
    } else {
      const hn::CappedTag<T, 4> f;
      const hn::Repartition<double, decltype(f)> d;
#pragma GCC unroll 4
      for (size_t k = 0; k < 8; k += 2) {
#pragma GCC unroll 4
        for (size_t i = 0; i < 8; i += 2) {
          const auto a = hn::BitCast(d, hn::LoadU(f, source[i] + at + 2 * k));
          const auto b = hn::BitCast(d, hn::LoadU(f, source[i + 1] + at + 2 * k));
          hn::StoreU(hn::BitCast(f, InterleaveLower(d, a, b)), f, out + row * k + 2 * i);
          hn::StoreU(hn::BitCast(f, InterleaveUpper(d, a, b)), f, out + row * (k + 1) + 2 * i);
        }
      }
    }
  }
};
