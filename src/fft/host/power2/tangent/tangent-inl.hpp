// Tangent butterflies: with w = c (1 + i t), a +- w b is u = br - t bi, v = bi + t br, a +- c (u, v), six fused
// operations including the twiddle, where a product and two additions take eight. A product by -i w exchanges u and v.
// A zero cosine is replaced by a tiny one whose contribution is below rounding. Vectors are compiler vectors of any
// width, with real and imaginary parts separate. The including file is compiled with contraction (power2.cmake), which
// generates the fused operations. Included once per target, inside its namespace; no lambdas, for they would fall
// outside the target's attributes.

using std::size_t;

#define RIDGE_INLINE [[gnu::always_inline]] static inline

constexpr size_t log2_of(size_t n) { return n < 2 ? 0 : 1 + log2_of(n / 2); }
constexpr size_t reversed(size_t k, size_t bits) {
  return bits == 0 ? 0 : ((k & 1) << (bits - 1)) | reversed(k >> 1, bits - 1);
}

// Lane order of a shuffle of two vectors of W lanes; blocks of B lanes are 128 bits, pieces of `piece` lanes stay
// together.
struct InterleaveLow {
  static constexpr size_t at(size_t lane, size_t W, size_t piece, size_t B) {
    const size_t within = lane % B, unit = within / piece;
    return lane - within + unit / 2 * piece + within % piece + unit % 2 * W;
  }
};
struct InterleaveHigh {
  static constexpr size_t at(size_t lane, size_t W, size_t piece, size_t B) {
    return InterleaveLow::at(lane, W, piece, B) + B / 2;
  }
};
struct EvenLanes {
  static constexpr size_t at(size_t lane, size_t W, size_t, size_t B) {
    const size_t within = lane % B, start = lane - within;
    return within < B / 2 ? start + 2 * within : W + start + 2 * (within - B / 2);
  }
};
struct OddLanes {
  static constexpr size_t at(size_t lane, size_t W, size_t piece, size_t B) {
    return EvenLanes::at(lane, W, piece, B) + 1;
  }
};
struct EvenBlocks {
  static constexpr size_t at(size_t lane, size_t W, size_t, size_t B) {
    const size_t block = lane / B, half = W / B / 2;
    return block < half ? 2 * block * B + lane % B : W + 2 * (block - half) * B + lane % B;
  }
};
struct OddBlocks {
  static constexpr size_t at(size_t lane, size_t W, size_t piece, size_t B) {
    return EvenBlocks::at(lane, W, piece, B) + B;
  }
};

// Twiddles of a pass: none, one per lane, or one for all lanes.
enum class Twiddling { none, lanes, same };

// (t, c) pairs of a twiddle row: level 1 one, level 2 one, level 3 two, level 4 four.
constexpr size_t tangent_pairs(size_t radix) { return radix == 2 ? 1 : radix / 2; }

template <class Real, size_t kLaneCount>
struct Tangent {
  using T = Real;
  static constexpr size_t W = kLaneCount, B = 16 / sizeof(T);
  typedef T V __attribute__((vector_size(W * sizeof(T))));
  typedef V Unaligned __attribute__((aligned(sizeof(T))));
  struct Complex {
    V re, im;
  };

  // Lane l of a split vector is point(l) of the W it was loaded from: the order that needs no shuffles across blocks.
  static constexpr size_t point(size_t lane) {
    const size_t block = lane / B, within = lane % B, half = B / 2;
    return within < half ? block * half + within : W / 2 + block * half + (within - half);
  }

  template <class Order, size_t kPiece, size_t... kLane>
  RIDGE_INLINE V shuffle_lanes(V a, V b, std::index_sequence<kLane...>) {
    return __builtin_shufflevector(a, b, static_cast<int>(Order::at(kLane, W, kPiece, B))...);
  }
  template <class Order, size_t kPiece = 1>
  RIDGE_INLINE V shuffle(V a, V b) {
    return shuffle_lanes<Order, kPiece>(a, b, std::make_index_sequence<W>());
  }
  RIDGE_INLINE V all(T value) { return value - V{}; }  // V{} + value would be an addition: -0

  RIDGE_INLINE V load_one(const T* p) { return *reinterpret_cast<const Unaligned*>(p); }
  RIDGE_INLINE void store_one(T* p, V v) { *reinterpret_cast<Unaligned*>(p) = v; }
  // Non-temporal store if the target has one; p is a multiple of the vector.
  RIDGE_INLINE void store_past(T* p, V v) {
#if defined(HWY_TARGET) && HWY_ARCH_X86
    const hwy::HWY_NAMESPACE::CappedTag<T, W> d;
    hwy::HWY_NAMESPACE::Stream(hwy::HWY_NAMESPACE::Vec<decltype(d)>{v}, d, p);
#else
    store_one(p, v);
#endif
  }
  RIDGE_INLINE Complex load(const T* p) { return {load_one(p), load_one(p + W)}; }
  RIDGE_INLINE void store(T* p, const Complex& x) {
    store_one(p, x.re);
    store_one(p + W, x.im);
  }
  // The inverse exchanges real and imaginary parts at the first load and the last store, and shares everything else.
  template <bool kInverseTransform>
  RIDGE_INLINE Complex load_user(const T* p) {
    const V a = load_one(p), b = load_one(p + W);
    const V even = shuffle<EvenLanes>(a, b), odd = shuffle<OddLanes>(a, b);
    return kInverseTransform ? Complex{odd, even} : Complex{even, odd};
  }
  template <bool kInverseTransform, bool kPast = false>
  RIDGE_INLINE void store_user(T* p, const Complex& x) {
    const V first = kInverseTransform ? x.im : x.re, second = kInverseTransform ? x.re : x.im;
    const V low = shuffle<InterleaveLow>(first, second), high = shuffle<InterleaveHigh>(first, second);
    kPast ? store_past(p, low) : store_one(p, low);
    kPast ? store_past(p + W, high) : store_one(p + W, high);
  }

  // v[i] lane j becomes v[j] lane i.
  RIDGE_INLINE void transpose(V* v) {
    if constexpr (B == 4) {
#pragma GCC unroll 4
      for (size_t j = 0; j < W; j += 4) {
        const V a = shuffle<InterleaveLow>(v[j], v[j + 1]), b = shuffle<InterleaveHigh>(v[j], v[j + 1]);
        const V c = shuffle<InterleaveLow>(v[j + 2], v[j + 3]), d = shuffle<InterleaveHigh>(v[j + 2], v[j + 3]);
        v[j] = shuffle<InterleaveLow, 2>(a, c);
        v[j + 1] = shuffle<InterleaveHigh, 2>(a, c);
        v[j + 2] = shuffle<InterleaveLow, 2>(b, d);
        v[j + 3] = shuffle<InterleaveHigh, 2>(b, d);
      }
    } else {
#pragma GCC unroll 4
      for (size_t j = 0; j < W; j += 2) {
        const V a = v[j], b = v[j + 1];
        v[j] = shuffle<InterleaveLow>(a, b);
        v[j + 1] = shuffle<InterleaveHigh>(a, b);
      }
    }
    if constexpr (W == 2 * B) {
#pragma GCC unroll 4
      for (size_t j = 0; j < B; ++j) {
        const V a = v[j], b = v[B + j];
        v[j] = shuffle<EvenBlocks>(a, b);
        v[B + j] = shuffle<OddBlocks>(a, b);
      }
    } else if constexpr (W == 4 * B) {
#pragma GCC unroll 4
      for (size_t j = 0; j < B; ++j) {
        const V a = shuffle<EvenBlocks>(v[j], v[B + j]), b = shuffle<OddBlocks>(v[j], v[B + j]);
        const V c = shuffle<EvenBlocks>(v[2 * B + j], v[3 * B + j]), d = shuffle<OddBlocks>(v[2 * B + j], v[3 * B + j]);
        v[j] = shuffle<EvenBlocks>(a, c);
        v[2 * B + j] = shuffle<OddBlocks>(a, c);
        v[B + j] = shuffle<EvenBlocks>(b, d);
        v[3 * B + j] = shuffle<OddBlocks>(b, d);
      }
    } else {
      static_assert(W == B);
    }
  }
  // Order in an inner vector of the Highway engine: see Split::point().
  static constexpr size_t inner_point(size_t lane) { return W > B ? (lane % 2) * (W / 2) + lane / 2 : lane; }

  // Vector k, lane l for column point(l) (or inner_point(l)) becomes vector of the column, lane l for k = point(l).
  template <bool kInner = false>
  RIDGE_INLINE void transpose_lanes(const V* from, V* to) {
    V v[W];
#pragma GCC unroll 16
    for (size_t l = 0; l < W; ++l) v[l] = from[point(l)];
    transpose(v);
#pragma GCC unroll 16
    for (size_t l = 0; l < W; ++l) to[kInner ? inner_point(l) : point(l)] = v[l];
  }

  RIDGE_INLINE void add_sub(Complex& a, Complex& b) {
    const Complex sum{a.re + b.re, a.im + b.im};
    b = {a.re - b.re, a.im - b.im};
    a = sum;
  }
  RIDGE_INLINE void add_sub_minus_i(Complex& a, Complex& b) {
    const Complex sum{a.re + b.im, a.im - b.re};
    b = {a.re - b.im, a.im + b.re};
    a = sum;
  }
  template <bool kQuarter>
  RIDGE_INLINE void add_sub_scaled(Complex& a, Complex& b, V u, V v, V c) {
    const Complex sum = kQuarter ? Complex{a.re + c * v, a.im - c * u} : Complex{a.re + c * u, a.im + c * v};
    b = kQuarter ? Complex{a.re - c * v, a.im + c * u} : Complex{a.re - c * u, a.im - c * v};
    a = sum;
  }

  template <Twiddling kTwiddling>
  RIDGE_INLINE V number(const T* table, size_t i) {
    if constexpr (kTwiddling == Twiddling::lanes) return load_one(table + W * i);
    if constexpr (kTwiddling != Twiddling::lanes) return all(table[i]);
  }

  // The k-th group of butterflies of level L of a radix: pairs R >> L apart, all with one twiddle.
  template <size_t R, size_t L, Twiddling kTwiddling, size_t k>
  RIDGE_INLINE void group(Complex* x, const T* table) {
    constexpr size_t apart = R >> L, groups = size_t{1} << (L - 1), start = 2 * apart * reversed(k, L - 1);
    constexpr bool quarter = L >= 2 && k >= groups / 2;
    constexpr size_t angle = quarter ? k - groups / 2 : k, first = L == 1 ? 0 : size_t{1} << (L - 2);
    constexpr bool trivial = kTwiddling == Twiddling::none && angle == 0,
                   half = kTwiddling == Twiddling::none && 4 * angle == groups;
    V t{}, c{};
    if constexpr (kTwiddling != Twiddling::none) {
      constexpr size_t entry = 2 * (first + angle);
      t = number<kTwiddling>(table, entry);
      c = number<kTwiddling>(table, entry + 1);
    } else if constexpr (half) {
      c = all(T(0.70710678118654752440));
    } else if constexpr (!trivial) {
      static_assert(groups == 8 && (angle == 1 || angle == 3));
      t = all(T(angle == 1 ? -0.41421356237309504880 : -2.41421356237309504880));
      c = all(T(angle == 1 ? 0.92387953251128675613 : 0.38268343236508977173));
    }
#pragma GCC unroll 16
    for (size_t r = 0; r < apart; ++r) {
      Complex &a = x[start + r], &b = x[start + r + apart];
      if constexpr (trivial) {
        quarter ? add_sub_minus_i(a, b) : add_sub(a, b);
      } else if constexpr (half) {
        const V u = b.re + b.im, v = b.im - b.re;
        add_sub_scaled<quarter>(a, b, u, v, c);
      } else {
        const V u = b.re - t * b.im, v = b.im + t * b.re;
        add_sub_scaled<quarter>(a, b, u, v, c);
      }
    }
  }
  // All groups of a level, or those with k even or odd: the two halves of a radix are independent after its first
  // level.
  enum class Part { all, even, odd };
  template <size_t R, size_t L, Twiddling kTwiddling, Part kPart, size_t... k>
  RIDGE_INLINE void groups_of(Complex* x, const T* table, std::index_sequence<k...>) {
    if constexpr (kPart == Part::all) (group<R, L, kTwiddling, k>(x, table), ...);
    if constexpr (kPart == Part::even) (group<R, L, kTwiddling, 2 * k>(x, table), ...);
    if constexpr (kPart == Part::odd) (group<R, L, kTwiddling, 2 * k + 1>(x, table), ...);
  }
  template <size_t R, size_t L, Twiddling kTwiddling, Part kPart = Part::all>
  RIDGE_INLINE void level(Complex* x, const T* table) {
    constexpr size_t groups = size_t{1} << (L - 1);
    groups_of<R, L, kTwiddling, kPart>(x, table,
                                       std::make_index_sequence < kPart == Part::all ? groups : groups / 2 > ());
  }

  // One butterfly of R: load(r) gives its points, store(k, value) takes its results. For sixteen points the differences
  // of the first level wait in memory while the sums are processed: registers suffice for one half.
  template <size_t R, Twiddling kTwiddling, class Load, class Store>
  RIDGE_INLINE void butterfly(const Load& load, const Store& store, const T* table) {
    static_assert(R == 2 || R == 4 || R == 8 || R == 16);
    if constexpr (R < 16) {
      Complex x[R];
#pragma GCC unroll 8
      for (size_t r = 0; r < R; ++r) x[r] = load(r);
      level<R, 1, kTwiddling>(x, table);
      if constexpr (R >= 4) level<R, 2, kTwiddling>(x, table);
      if constexpr (R >= 8) level<R, 3, kTwiddling>(x, table);
#pragma GCC unroll 8
      for (size_t k = 0; k < R; ++k) store(k, x[reversed(k, log2_of(R))]);
    } else {
      Complex sums[8];
      alignas(64) T differences[16 * W];
#pragma GCC unroll 8
      for (size_t r = 0; r < 8; ++r) {
        Complex pair[2] = {load(r), load(r + 8)};
        level<2, 1, kTwiddling>(pair, table);
        sums[r] = pair[0];
        Tangent::store(differences + 2 * W * r, pair[1]);
      }
      asm volatile("" : "+m"(differences));
      eight_of_sixteen<kTwiddling, Part::even>(sums, table);
#pragma GCC unroll 8
      for (size_t k = 0; k < 8; ++k) store(2 * k, sums[reversed(k, 3)]);
      Complex rest[8];
#pragma GCC unroll 8
      for (size_t r = 0; r < 8; ++r) rest[r] = Tangent::load(differences + 2 * W * r);
      eight_of_sixteen<kTwiddling, Part::odd>(rest, table);
#pragma GCC unroll 8
      for (size_t k = 0; k < 8; ++k) store(2 * k + 1, rest[reversed(k, 3)]);
    }
  }
  // Levels 2 to 4 on one half of sixteen, in the first or the last eight positions of a butterfly.
  template <Twiddling kTwiddling, Part kPart>
  RIDGE_INLINE void eight_of_sixteen(Complex* half, const T* table) {
    Complex x[16];
    constexpr size_t at = kPart == Part::odd ? 8 : 0;
#pragma GCC unroll 8
    for (size_t r = 0; r < 8; ++r) x[at + r] = half[r];
    level<16, 2, kTwiddling, kPart>(x, table);
    level<16, 3, kTwiddling, kPart>(x, table);
    level<16, 4, kTwiddling, kPart>(x, table);
#pragma GCC unroll 8
    for (size_t r = 0; r < 8; ++r) half[r] = x[at + r];
  }

  // Sources of points and destinations of results.
  template <bool kInverseTransform>
  struct FromUser {
    const T* p;
    size_t step;
    [[gnu::always_inline]] Complex operator()(size_t r) const { return load_user<kInverseTransform>(p + step * r); }
  };
  template <bool kInverseTransform, bool kPast = false>
  struct ToUser {
    T* p;
    size_t step;
    [[gnu::always_inline]] void operator()(size_t k, const Complex& x) const {
      store_user<kInverseTransform, kPast>(p + step * k, x);
    }
  };
  struct FromInner {
    const T* p;
    size_t step;
    [[gnu::always_inline]] Complex operator()(size_t r) const { return Tangent::load(p + step * r); }
  };
  struct ToInner {
    T* p;
    size_t step;
    [[gnu::always_inline]] void operator()(size_t k, const Complex& x) const { Tangent::store(p + step * k, x); }
  };
  struct FromRegisters {
    const V *re, *im;
    [[gnu::always_inline]] Complex operator()(size_t r) const { return {re[r], im[r]}; }
  };
  struct ToRegisters {
    V *re, *im;
    [[gnu::always_inline]] void operator()(size_t k, const Complex& x) const {
      re[k] = x.re;
      im[k] = x.im;
    }
  };
};
