// Short transforms that stay in the 32 registers of AVX-512: sixteen points of one line in the lanes of two vectors
// (real and imaginary parts), four lines at a time. A vector has four blocks of four lanes. Transposing blocks against
// vectors, and lanes of a block against vectors, costs one instruction per vector and step; the permutes that split the
// parts at the first load and join them at the last store can apply any order for the same price and complete the
// reordering. Included once per target, inside HWY_NAMESPACE, for vectors of sixteen floats.

// In a template g++ 12 does not count an operand of this function as used.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-but-set-variable"
#pragma GCC diagnostic ignored "-Wunused-but-set-parameter"
// clang-format off
#define RIDGE_SHUFFLE(a, b, ...) R1{__builtin_shufflevector((a).raw, (b).raw, __VA_ARGS__)}
// clang-format on

template <bool kInverseTransform>
struct Registers {
  using P = Split<float, 16, kInverseTransform>;
  using D = typename P::D;
  using R1 = typename P::R1;
  using V = typename P::V;

  static HWY_INLINE V ordered(R1 re, R1 im) { return kInverseTransform ? V{im, re} : V{re, im}; }
  // Thirty-two numbers in order.
  static HWY_INLINE V load(const float* p) {
    const R1 a = hn::LoadU(D(), p), b = hn::LoadU(D(), p + 16);
    return ordered(RIDGE_SHUFFLE(a, b, 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30),
                   RIDGE_SHUFFLE(a, b, 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31));
  }
  static HWY_INLINE void store(float* p, V v) {
    const V o = ordered(v.re, v.im);
    hn::StoreU(RIDGE_SHUFFLE(o.re, o.im, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23), D(), p);
    hn::StoreU(RIDGE_SHUFFLE(o.re, o.im, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31), D(), p + 16);
  }
  // Lane 4 k + a goes to point k + 4 a.
  static HWY_INLINE void join(V v, R1& low, R1& high) {
    const V o = ordered(v.re, v.im);
    low = RIDGE_SHUFFLE(o.re, o.im, 0, 16, 4, 20, 8, 24, 12, 28, 1, 17, 5, 21, 9, 25, 13, 29);
    high = RIDGE_SHUFFLE(o.re, o.im, 2, 18, 6, 22, 10, 26, 14, 30, 3, 19, 7, 23, 11, 27, 15, 31);
  }
  static HWY_INLINE R1 lower(R1 a, R1 b) {
    return RIDGE_SHUFFLE(a, b, 0, 1, 2, 3, 4, 5, 6, 7, 16, 17, 18, 19, 20, 21, 22, 23);
  }
  static HWY_INLINE R1 upper(R1 a, R1 b) {
    return RIDGE_SHUFFLE(a, b, 8, 9, 10, 11, 12, 13, 14, 15, 24, 25, 26, 27, 28, 29, 30, 31);
  }
  static HWY_INLINE R1 even_blocks(R1 a, R1 b) {
    return RIDGE_SHUFFLE(a, b, 0, 1, 2, 3, 8, 9, 10, 11, 16, 17, 18, 19, 24, 25, 26, 27);
  }
  static HWY_INLINE R1 odd_blocks(R1 a, R1 b) {
    return RIDGE_SHUFFLE(a, b, 4, 5, 6, 7, 12, 13, 14, 15, 20, 21, 22, 23, 28, 29, 30, 31);
  }
  // Vector i, block j becomes vector j, block i.
  static HWY_INLINE void transpose_blocks(R1& a, R1& b, R1& c, R1& d) {
    const R1 p = lower(a, b), q = upper(a, b), r = lower(c, d), s = upper(c, d);
    a = even_blocks(p, r), b = odd_blocks(p, r), c = even_blocks(q, s), d = odd_blocks(q, s);
  }
  // Vector i, lane j of a block becomes vector j, lane i of it.
  static HWY_INLINE void transpose_lanes(R1& a, R1& b, R1& c, R1& d) {
    const R1 p = InterleaveLower(D(), a, c), q = InterleaveUpper(D(), a, c);
    const R1 r = InterleaveLower(D(), b, d), s = InterleaveUpper(D(), b, d);
    a = InterleaveLower(D(), p, r), b = InterleaveUpper(D(), p, r);
    c = InterleaveLower(D(), q, s), d = InterleaveUpper(D(), q, s);
  }
  static HWY_INLINE void transpose_blocks(V* x) {
    transpose_blocks(x[0].re, x[1].re, x[2].re, x[3].re);
    transpose_blocks(x[0].im, x[1].im, x[2].im, x[3].im);
  }
  static HWY_INLINE void transpose_lanes(V* x) {
    transpose_lanes(x[0].re, x[1].re, x[2].re, x[3].re);
    transpose_lanes(x[0].im, x[1].im, x[2].im, x[3].im);
  }
  static HWY_INLINE void butterfly4_of(V* x) { butterfly4<P>(x[0], x[1], x[2], x[3]); }
  // Four lines of sixteen points, each in one vector. Afterwards lane 4 k + a of vector b is bin a + 4 b of line k.
  static HWY_INLINE void lines16(V* x, const float* roots16) {
    transpose_blocks(x);
    butterfly4_of(x);
#pragma GCC unroll 4
    for (size_t a = 1; a < 4; ++a) x[a] = P::times_lanes(roots16 + 32 * (a - 1), x[a]);
    transpose_lanes(x);
    butterfly4_of(x);
  }
};

template <bool kInverseTransform, size_t N>
struct RegisterLine {
  using K = Registers<kInverseTransform>;
  using P = typename K::P;
  using V = typename K::V;
  using R1 = typename K::R1;
  using D = typename K::D;

  // Number of lines that fill four vectors; below eight points they must be contiguous.
  static constexpr size_t kTogether = N >= 64 ? 1 : 64 / N;

  static void run(const float* in, size_t in_distance, float* out, size_t out_distance, size_t count,
                  const float* const* tables, float*) {
    const float* const t = tables[0];
    for (size_t i = 0; i + kTogether <= count; i += kTogether) {
      if constexpr (N == 2) two(in, out);
      if constexpr (N == 4) four(in, out);
      if constexpr (N == 8) eight(in, 2 * in_distance, out, 2 * out_distance, t);
      if constexpr (N == 16) sixteen(in, 2 * in_distance, out, 2 * out_distance, t);
      if constexpr (N == 32) thirty_two(in, 2 * in_distance, out, 2 * out_distance, t);
      if constexpr (N == 64) sixty_four(in, out, t);
      if constexpr (N == 128) hundred_twenty_eight(in, out, t);
      in += 2 * kTogether * in_distance;
      out += 2 * kTogether * out_distance;
    }
  }

  // Points are pairs of floats, as wide as a double.
  static HWY_INLINE void two(const float* in, float* out) {
    const hn::Repartition<double, D> d;
#pragma GCC unroll 4
    for (size_t j = 0; j < 128; j += 32) {
      const auto a = hn::BitCast(d, hn::LoadU(D(), in + j)), b = hn::BitCast(d, hn::LoadU(D(), in + j + 16));
      const R1 first = hn::BitCast(D(), hn::InterleaveLower(d, a, b));
      const R1 second = hn::BitCast(D(), hn::InterleaveUpper(d, a, b));
      const auto sum = hn::BitCast(d, hn::Add(first, second)), difference = hn::BitCast(d, hn::Sub(first, second));
      hn::StoreU(hn::BitCast(D(), hn::InterleaveLower(d, sum, difference)), D(), out + j);
      hn::StoreU(hn::BitCast(D(), hn::InterleaveUpper(d, sum, difference)), D(), out + j + 16);
    }
  }

  // Block n, lane t of it: point n of transform t.
  static HWY_INLINE void four(const float* in, float* out) {
    V x[4];
#pragma GCC unroll 4
    for (size_t j = 0; j < 4; ++j) {
      const R1 a = hn::LoadU(D(), in + 32 * j), b = hn::LoadU(D(), in + 32 * j + 16);
      x[j] = K::ordered(RIDGE_SHUFFLE(a, b, 0, 8, 16, 24, 2, 10, 18, 26, 4, 12, 20, 28, 6, 14, 22, 30),
                        RIDGE_SHUFFLE(a, b, 1, 9, 17, 25, 3, 11, 19, 27, 5, 13, 21, 29, 7, 15, 23, 31));
    }
    K::transpose_blocks(x);
    K::butterfly4_of(x);
    K::transpose_blocks(x);
#pragma GCC unroll 4
    for (size_t j = 0; j < 4; ++j) {
      const V o = K::ordered(x[j].re, x[j].im);
      hn::StoreU(RIDGE_SHUFFLE(o.re, o.im, 0, 16, 4, 20, 8, 24, 12, 28, 1, 17, 5, 21, 9, 25, 13, 29), D(),
                 out + 32 * j);
      hn::StoreU(RIDGE_SHUFFLE(o.re, o.im, 2, 18, 6, 22, 10, 26, 14, 30, 3, 19, 7, 23, 11, 27, 15, 31), D(),
                 out + 32 * j + 16);
    }
  }

  // Block a, lane 2 t + b of it: point 2 a + b of transform t. Radix 4 over a, twiddle, radix 2 over b.
  static HWY_INLINE void eight(const float* in, size_t in_step, float* out, size_t out_step, const float* t) {
    V x[4], y[4];
#pragma GCC unroll 4
    for (size_t j = 0; j < 4; ++j) {
      const R1 a = hn::LoadU(D(), in + in_step * 2 * j), b = hn::LoadU(D(), in + in_step * (2 * j + 1));
      x[j] = K::ordered(RIDGE_SHUFFLE(a, b, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30),
                        RIDGE_SHUFFLE(a, b, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31));
    }
    K::transpose_blocks(x);
    K::butterfly4_of(x);
#pragma GCC unroll 4
    for (size_t a = 1; a < 4; ++a) x[a] = P::times_lanes(t + 32 * (a - 1), x[a]);
#pragma GCC unroll 2
    for (size_t h = 0; h < 4; h += 2) {
      const V even{even_lanes(x[h].re, x[h + 1].re), even_lanes(x[h].im, x[h + 1].im)};
      const V odd{odd_lanes(x[h].re, x[h + 1].re), odd_lanes(x[h].im, x[h + 1].im)};
      y[h] = P::add(even, odd);
      y[h + 1] = P::sub(even, odd);
    }
    // Now block 2 h + b, lane 2 a + t: bin 4 b + 2 h + a of transform t.
    K::transpose_blocks(y);
#pragma GCC unroll 4
    for (size_t j = 0; j < 4; ++j) {
      const V o = K::ordered(y[j].re, y[j].im);
      hn::StoreU(RIDGE_SHUFFLE(o.re, o.im, 0, 16, 2, 18, 8, 24, 10, 26, 4, 20, 6, 22, 12, 28, 14, 30), D(),
                 out + out_step * 2 * j);
      hn::StoreU(RIDGE_SHUFFLE(o.re, o.im, 1, 17, 3, 19, 9, 25, 11, 27, 5, 21, 7, 23, 13, 29, 15, 31), D(),
                 out + out_step * (2 * j + 1));
    }
  }
  static HWY_INLINE R1 even_lanes(R1 a, R1 b) {
    return RIDGE_SHUFFLE(a, b, 0, 2, 16, 18, 4, 6, 20, 22, 8, 10, 24, 26, 12, 14, 28, 30);
  }
  static HWY_INLINE R1 odd_lanes(R1 a, R1 b) {
    return RIDGE_SHUFFLE(a, b, 1, 3, 17, 19, 5, 7, 21, 23, 9, 11, 25, 27, 13, 15, 29, 31);
  }

  static HWY_INLINE void sixteen(const float* in, size_t in_step, float* out, size_t out_step, const float* t) {
    V x[4];
#pragma GCC unroll 4
    for (size_t j = 0; j < 4; ++j) x[j] = K::load(in + in_step * j);
    K::lines16(x, t);
    K::transpose_blocks(x);
#pragma GCC unroll 4
    for (size_t j = 0; j < 4; ++j) K::store(out + out_step * j, x[j]);
  }

  // Even bins are a line of sixteen points, odd ones another: both of a bin pair end in the same vector.
  static HWY_INLINE void thirty_two(const float* in, size_t in_step, float* out, size_t out_step, const float* t) {
    V x[4];
#pragma GCC unroll 2
    for (size_t j = 0; j < 2; ++j) {
      const V a = K::load(in + in_step * j), b = K::load(in + in_step * j + 32);
      x[2 * j] = P::add(a, b);
      x[2 * j + 1] = P::times_lanes(t, P::sub(a, b));
    }
    K::lines16(x, t + 32);
#pragma GCC unroll 4
    for (size_t b = 0; b < 4; ++b) {
      const V o = K::ordered(x[b].re, x[b].im);
      hn::StoreU(RIDGE_SHUFFLE(o.re, o.im, 0, 16, 4, 20, 1, 17, 5, 21, 2, 18, 6, 22, 3, 19, 7, 23), D(), out + 16 * b);
      hn::StoreU(RIDGE_SHUFFLE(o.re, o.im, 8, 24, 12, 28, 9, 25, 13, 29, 10, 26, 14, 30, 11, 27, 15, 31), D(),
                 out + out_step + 16 * b);
    }
  }

  static HWY_INLINE void sixty_four(const float* in, float* out, const float* t) {
    V x[4];
#pragma GCC unroll 4
    for (size_t j = 0; j < 4; ++j) x[j] = K::load(in + 32 * j);
    K::butterfly4_of(x);
#pragma GCC unroll 4
    for (size_t k = 1; k < 4; ++k) x[k] = P::times_lanes(t + 32 * (k - 1), x[k]);
    K::lines16(x, t + 96);
#pragma GCC unroll 4
    for (size_t b = 0; b < 4; ++b) {
      R1 low, high;
      K::join(x[b], low, high);
      hn::StoreU(low, D(), out + 32 * b);
      hn::StoreU(high, D(), out + 32 * b + 16);
    }
  }

  static HWY_INLINE void hundred_twenty_eight(const float* in, float* out, const float* t) {
    V x[8];
#pragma GCC unroll 8
    for (size_t j = 0; j < 8; ++j) x[j] = K::load(in + 32 * j);
    butterfly8<P>(x, P::constants());
#pragma GCC unroll 8
    for (size_t k = 1; k < 8; ++k) x[k] = P::times_lanes(t + 32 * (k - 1), x[k]);
    K::lines16(x, t + 224);
    K::lines16(x + 4, t + 224);
#pragma GCC unroll 4
    for (size_t b = 0; b < 4; ++b) {
      R1 first_low, first_high, last_low, last_high;
      K::join(x[b], first_low, first_high);
      K::join(x[b + 4], last_low, last_high);
      float* const to = out + 64 * b;
      hn::StoreU(K::lower(first_low, last_low), D(), to);
      hn::StoreU(K::upper(first_low, last_low), D(), to + 16);
      hn::StoreU(K::lower(first_high, last_high), D(), to + 32);
      hn::StoreU(K::upper(first_high, last_high), D(), to + 48);
    }
  }
};

// Kernels for several lines are not choices of their own: they serve batches of the line kernels.
template <size_t N>
constexpr Line<float> register_line() {
  using Forward = RegisterLine<false, N>;
  using Inverse = RegisterLine<true, N>;
  Line<float> entry{N, 16, {N}, {Forward::run, Inverse::run}, {nullptr, nullptr}};
  entry.together = Forward::kTogether;
  entry.tables = LineTableKind::registers;
  return entry;
}
#pragma GCC diagnostic pop
