// Lines of tangent butterflies: decimation in time, so that all passes but the first apply their twiddles before the
// butterflies. The first pass transposes lanes from columns to frequencies; all others are vertical and read their
// tables in order.

// Offset of the second of two buffers, so that equal indices of both do not share an L1 set.
inline constexpr size_t kTangentPad = 128;

// First pass, `m` columns: point r of column j is point j + m r. Results of a column are contiguous.
template <class K, bool kInverseTransform, size_t R, size_t m, class T = typename K::T>
[[gnu::noinline]] void tangent_first(const T* in, T* out) {
  constexpr size_t W = K::W;
  static_assert(R % W == 0 && m % W == 0);
  for (size_t j = 0; j < m; j += W) {
    typename K::V re[R], im[R];
    K::template butterfly<R, Twiddling::none>(typename K::template FromUser<kInverseTransform>{in + 2 * j, 2 * m},
                                              typename K::ToRegisters{re, im}, static_cast<const T*>(nullptr));
#pragma GCC unroll 2
    for (size_t h = 0; h < R; h += W) {
      K::transpose_lanes(re + h, re + h);
#pragma GCC unroll 16
      for (size_t c = 0; c < W; ++c) K::store_one(out + 2 * ((j + c) * R + h), re[h + c]);
      K::transpose_lanes(im + h, im + h);
#pragma GCC unroll 16
      for (size_t c = 0; c < W; ++c) K::store_one(out + 2 * ((j + c) * R + h) + W, im[h + c]);
    }
  }
}

// S frequencies are done, m columns are left after this pass.
template <class K, size_t R, size_t S, size_t m, class T = typename K::T>
[[gnu::noinline]] void tangent_middle(const T* in, T* out, const T* table) {
  constexpr size_t W = K::W;
  for (size_t j = 0; j < m; ++j) {
    for (size_t s = 0; s < S; s += W) {
      K::template butterfly<R, Twiddling::lanes>(typename K::FromInner{in + 2 * (j * S + s), 2 * m * S},
                                                 typename K::ToInner{out + 2 * (j * R * S + s), 2 * S},
                                                 table + s * 2 * tangent_pairs(R));
    }
  }
}

template <class K, bool kInverseTransform, size_t R, size_t S, class T = typename K::T>
[[gnu::noinline]] void tangent_last(const T* in, T* out, const T* table) {
  constexpr size_t W = K::W;
  for (size_t s = 0; s < S; s += W) {
    K::template butterfly<R, Twiddling::lanes>(typename K::FromInner{in + 2 * s, 2 * S},
                                               typename K::template ToUser<kInverseTransform>{out + 2 * s, 2 * S},
                                               table + s * 2 * tangent_pairs(R));
  }
}

// Two radices with all points in registers (or spilled by the compiler): as many columns as lanes.
template <class K, bool kInverseTransform, size_t A, size_t B>
struct TangentWhole {
  using T = typename K::T;
  static void run(const T* in, size_t in_distance, T* out, size_t out_distance, size_t count, const T* const* tables,
                  T*) {
    constexpr size_t W = K::W;
    static_assert(B == W && A % W == 0);
    const T* const table = tables[0];
    for (size_t i = 0; i < count; ++i, in += 2 * in_distance, out += 2 * out_distance) {
      typename K::V re[A], im[A];
      K::template butterfly<A, Twiddling::none>(typename K::template FromUser<kInverseTransform>{in, 2 * B},
                                                typename K::ToRegisters{re, im}, table);
#pragma GCC unroll 2
      for (size_t h = 0; h < A; h += W) {
        K::transpose_lanes(re + h, re + h);
        K::transpose_lanes(im + h, im + h);
        K::template butterfly<B, Twiddling::lanes>(typename K::FromRegisters{re + h, im + h},
                                                   typename K::template ToUser<kInverseTransform>{out + 2 * h, 2 * A},
                                                   table + h * 2 * tangent_pairs(B));
      }
    }
  }
};

template <class K, bool kInverseTransform, size_t A, size_t B, size_t C = 1>
struct TangentLine {
  using T = typename K::T;
  static constexpr size_t N = A * B * C;
  static void run(const T* in, size_t in_distance, T* out, size_t out_distance, size_t count, const T* const* tables,
                  T* scratch) {
    T* const z = scratch + 2 * N + kTangentPad / sizeof(T);
    for (size_t i = 0; i < count; ++i, in += 2 * in_distance, out += 2 * out_distance) {
      if constexpr (C == 1) {
        tangent_first<K, kInverseTransform, A, B>(in, scratch);
        tangent_last<K, kInverseTransform, B, A>(scratch, out, tables[0]);
      } else {
        // Out of place the output is the first buffer, which saves L1.
        T* const y = in != out ? out : scratch;
        tangent_first<K, kInverseTransform, A, B * C>(in, y);
        tangent_middle<K, B, A, C>(y, z, tables[0]);
        tangent_last<K, kInverseTransform, C, A * B>(z, out, tables[1]);
      }
    }
  }
};

// Two steps. Columns of A B points, W of them at a time in an L1 buffer, are transposed into blocks of W frequencies, 1
// KB apart; then rows of D E points with those frequencies as lanes run contiguously in place and are written in pieces
// of W points. The twiddle between the steps is one product per row group. Rows of G D E points have a radix-G pass
// first, which leaves G parts, each a block of G times more frequencies: so a line may exceed L2, as long as a block
// does not.
template <class K, bool kInverseTransform, size_t A, size_t B, size_t D, size_t E, size_t G = 1>
struct TangentSquare {
  using T = typename K::T;
  using V = typename K::V;
  static constexpr size_t W = K::W, kRows = A * B, kColumns = G * D * E;
  static_assert(A % W == 0 && kColumns % W == 0);
  static constexpr size_t kBufferRow = 2 * W * A + 2 * W;  // reals: A vectors and one of padding
  static constexpr size_t kPart = 2 * W * D * E + (G == 1 ? 0 : 128 / sizeof(T));
  static constexpr size_t kBlock = G * kPart + 1024 / sizeof(T);
  static constexpr size_t kBuffer = kBufferRow * B;
  static constexpr size_t kScratch = kBuffer + kBlock * (kRows / W);
  static_assert(kScratch <= 2 * (2 * kRows * kColumns));  // a line's two buffers

  // Columns are read in pieces of two cache lines that no prefetcher recognizes. Software prefetch fetches all of the
  // next W columns, or, if these cache lines would share a few sets of L2, some rows and the destination of the
  // results, which the cache reads before they are written. Short lines are in cache anyway.
  static constexpr size_t kBytes = 2 * sizeof(T) * kRows * kColumns;
  static constexpr bool kFetches = kBytes >= 512 * 1024, kFewAhead = kBytes > 512 * 1024;
  static constexpr size_t kLead = B < 4 ? B : 3;
  RIDGE_INLINE void fetch_row(const T* row) {
    for (size_t i = 0; i < 2 * W; i += 64 / sizeof(T)) __builtin_prefetch(row + i, 0, 2);
  }
  RIDGE_INLINE void fetch_to_write(T* piece) {
    for (size_t i = 0; i < 2 * W * W; i += 64 / sizeof(T)) {
#if defined(__x86_64__)
      asm volatile("prefetchw %0" : : "m"(piece[i]));  // the builtin emits it for some targets only
#else
      __builtin_prefetch(piece + i, 1, 2);
#endif
    }
  }

  // `kInner`: points have the inner order of the Highway engine, with parts already exchanged if necessary.
  template <bool kFetch, bool kInner>
  [[gnu::noinline]] static void load_columns(const T* in, T* buffer) {
    for (size_t r = 0; r < B; ++r) {
      if constexpr (kFetch && kFewAhead) {
        for (size_t q = 0; q < A && r + kLead < B; ++q) fetch_row(in + 2 * kColumns * (r + kLead + B * q));
      }
      if constexpr (kInner) {
        K::template butterfly<A, Twiddling::none>(typename K::FromInner{in + 2 * kColumns * r, 2 * kColumns * B},
                                                  typename K::ToInner{buffer + kBufferRow * r, 2 * W},
                                                  static_cast<const T*>(nullptr));
        continue;
      }
      K::template butterfly<A, Twiddling::none>(
          typename K::template FromUser<kInverseTransform>{in + 2 * kColumns * r, 2 * kColumns * B},
          typename K::ToInner{buffer + kBufferRow * r, 2 * W}, static_cast<const T*>(nullptr));
    }
  }
  template <bool kFetch>
  [[gnu::noinline]] static void columns(T* buffer, const T* table, const T* ahead, [[maybe_unused]] T* target) {
    for (size_t k = 0; k < A; ++k) {
      if constexpr (kFetch && kFewAhead) {
        for (size_t b = k * (kRows / W) / A; b < (k + 1) * (kRows / W) / A; ++b) fetch_to_write(target + kBlock * b);
      }
      T* const at = buffer + 2 * W * k;
      K::template butterfly<B, Twiddling::same>(typename K::FromInner{at, kBufferRow},
                                                typename K::ToInner{at, kBufferRow}, table + k * 2 * tangent_pairs(B));
      if constexpr (kFetch) {
        for (size_t r = 0; r < (kFewAhead ? kLead : B); ++r) {
          fetch_row(ahead + 2 * kColumns * (r + B * k));
        }
      }
    }
  }
  template <bool kInner>
  [[gnu::noinline]] static void transpose_out(const T* buffer, T* blocks) {
    for (size_t b = 0; b < B; ++b) {
      for (size_t a = 0; a < A; a += W) {
        const T* const p = buffer + kBufferRow * b + 2 * W * a;
        T* const o = blocks + kBlock * ((b * A + a) / W);
#pragma GCC unroll 2
        for (size_t part = 0; part < 2 * W; part += W) {
          V v[W];
#pragma GCC unroll 16
          for (size_t c = 0; c < W; ++c) v[c] = K::load_one(p + 2 * W * c + part);
          K::template transpose_lanes<kInner>(v, v);
#pragma GCC unroll 16
          for (size_t c = 0; c < W; ++c) K::store_one(o + 2 * W * c + part, v[c]);
        }
      }
    }
  }
  struct ToScaled {
    T* p;
    size_t step;
    V c, s;
    [[gnu::always_inline]] void operator()(size_t k, const typename K::Complex& x) const {
      K::store(p + step * k, {x.re * c - x.im * s, x.re * s + x.im * c});
    }
  };
  [[gnu::noinline]] static void rows_first(T* x, const T* table, const T* scale) {
    for (size_t r = 0; r < E; ++r) {
      const V c = K::load_one(scale + 2 * W * r), s = K::load_one(scale + 2 * W * r + W);
      K::template butterfly<D, Twiddling::lanes>(typename K::FromInner{x + 2 * W * r, 2 * W * E},
                                                 ToScaled{x + 2 * W * r, 2 * W * E, c, s}, table);
    }
  }
  template <bool kPast>
  [[gnu::noinline]] static void rows_last(const T* x, T* out, const T* table) {
    for (size_t a = 0; a < D; ++a) {
      K::template butterfly<E, Twiddling::same>(
          typename K::FromInner{x + 2 * W * E * a, 2 * W},
          typename K::template ToUser<kInverseTransform, kPast>{out + 2 * kRows * G * a, 2 * kRows * G * D},
          table + a * 2 * tangent_pairs(E));
    }
  }
  // Part of a block that belongs to each of its G times more frequencies.
  [[gnu::noinline]] static void parts(T* x, const T* table) {
    for (size_t r = 0; r < D * E; ++r) {
      K::template butterfly<G, Twiddling::lanes>(typename K::FromInner{x + 2 * W * r, kPart},
                                                 typename K::ToInner{x + 2 * W * r, kPart}, table);
    }
  }

  // Columns `from` to `to`, multiples of W, of one line. `next`: address of the columns after them.
  template <bool kFetch, bool kInner = false>
  static void columns_step(const T* in, size_t from, size_t to, const T* next, T* blocks, const T* const* tables,
                           T* buffer) {
    for (size_t j = from; j < to; j += W) {
      T* const target = blocks + kPart * (j / (D * E)) + 2 * W * (j % (D * E));
      load_columns<kFetch, kInner>(in + 2 * j, buffer);
      columns<kFetch>(buffer, tables[0], j + W < to ? in + 2 * (j + W) : next, target);
      transpose_out<kInner>(buffer, target);
    }
  }
  // Rows of block b. `kPast`: non-temporal stores, which need whole vectors.
  template <bool kPast>
  static void rows_step(size_t b, T* blocks, T* out, const T* const* tables) {
    T* const x = blocks + kBlock * b;
    if constexpr (G > 1) parts(x, tables[4] + b * W * 2 * tangent_pairs(G));
    for (size_t g = 0; g < G; ++g) {
      const size_t at = g * (kRows / W) + b;
      rows_first(x + kPart * g, tables[1] + at * W * 2 * tangent_pairs(D), tables[3] + at * 2 * W * E);
      rows_last<kPast>(x + kPart * g, out + 2 * W * at, tables[2]);
    }
  }
  // The steps that several threads share.
  static constexpr size_t kFirstParts = kColumns / W < 32 ? kColumns / W : 32, kSecondParts = kRows / W;
  static void first_part(size_t part, const T* in, T* work, const T* const* tables, T* buffer) {
    constexpr size_t kEach = kColumns / kFirstParts;
    columns_step<true>(in, kEach * part, kEach * (part + 1), in + 2 * kEach * part, work, tables, buffer);
  }
  template <bool kPast, bool kInner = false>
  static void run(const T* in, size_t in_distance, T* out, size_t out_distance, size_t count, const T* const* tables,
                  T* scratch) {
    T *const buffer = scratch, *const blocks = scratch + kBuffer;
    for (size_t i = 0; i < count; ++i, in += 2 * in_distance, out += 2 * out_distance) {
      columns_step<kPast ? kFetches : kFewAhead, kInner>(in, 0, kColumns, i + 1 < count ? in + 2 * in_distance : in,
                                                         blocks, tables, buffer);
      for (size_t b = 0; b < kRows / W; ++b) rows_step<kPast>(b, blocks, out, tables);
    }
  }
};

// Eight and sixteen interleaved points: two or four complex numbers per vector, four vectors.
template <class Real, bool kInverseTransform, size_t N>
struct TangentPairs {
  using T = Real;
  static_assert(N == 8 || N == 16);
  static constexpr size_t W = N / 2;
  using K = Tangent<T, W>;
  using V = typename K::V;

  template <size_t... kLane>
  RIDGE_INLINE V swapped_lanes(V a, std::index_sequence<kLane...>) {
    return __builtin_shufflevector(a, a, static_cast<int>(kLane ^ 1)...);
  }
  RIDGE_INLINE V swapped(V a) { return swapped_lanes(a, std::make_index_sequence<W>()); }
  // Points are pairs of lanes: even (odd) ones of a and b alternately.
  template <size_t kOdd, size_t... kLane>
  RIDGE_INLINE V every_second(V a, V b, std::index_sequence<kLane...>) {
    if constexpr (W == 4) {
      return __builtin_shufflevector(a, b, static_cast<int>(2 * kOdd + kLane % 2 + kLane / 2 * W)...);
    } else {
      return __builtin_shufflevector(a, b,
                                     static_cast<int>(kLane / 4 * W + kLane % 4 / 2 * 4 + 2 * kOdd + kLane % 2)...);
    }
  }
  template <size_t kOdd>
  RIDGE_INLINE V every_second(V a, V b) {
    return every_second<kOdd>(a, b, std::make_index_sequence<W>());
  }
  // One for real parts and minus one for imaginary ones; the reverse for the inverse.
  RIDGE_INLINE V signs() {
    constexpr T s = kInverseTransform ? -1 : 1;
    if constexpr (W == 4) return V{s, -s, s, -s};
    if constexpr (W == 8) return V{s, -s, s, -s, s, -s, s, -s};
  }
  RIDGE_INLINE void four(V* y) {
    const V s0 = y[0] + y[2], d0 = y[0] - y[2], s1 = y[1] + y[3], d1 = swapped(y[1] - y[3]), g = signs();
    y[0] = s0 + s1;
    y[2] = s0 - s1;
    y[1] = d0 + g * d1;
    y[3] = d0 - g * d1;
  }
  static void run(const T* in, size_t in_distance, T* out, size_t out_distance, size_t count, const T* const*, T*) {
    for (size_t i = 0; i < count; ++i, in += 2 * in_distance, out += 2 * out_distance) {
      V y[4];
#pragma GCC unroll 4
      for (size_t k = 0; k < 4; ++k) y[k] = K::load_one(in + W * k);
      if constexpr (N == 8) eight(y);
      if constexpr (N == 16) sixteen(y);
      four(y);
#pragma GCC unroll 4
      for (size_t k = 0; k < 4; ++k) K::store_one(out + W * k, y[k]);
    }
  }

  // Sums and differences of the halves of eight, with rotated differences: even results are then next to odd ones.
  RIDGE_INLINE void eight(V* y) {
    constexpr T h = T(0.70710678118654752440), q = kInverseTransform ? -h : h, one = kInverseTransform ? -1 : 1;
    const V s0 = y[0] + y[2], s1 = y[1] + y[3];
    V d0 = y[0] - y[2], d1 = y[1] - y[3];
    d0 = d0 * V{1, 1, h, h} + swapped(d0) * V{0, 0, q, -q};
    d1 = d1 * V{0, 0, -h, -h} + swapped(d1) * V{one, -one, q, -q};
    y[0] = every_second<0>(s0, d0);
    y[1] = every_second<1>(s0, d0);
    y[2] = every_second<0>(s1, d1);
    y[3] = every_second<1>(s1, d1);
  }

  // Four columns of four, twiddles W16^(j k) for the points j of vector k, and a transpose of four by four points.
  RIDGE_INLINE void sixteen(V* y) {
    constexpr T h = T(0.70710678118654752440), c = T(0.92387953251128675613), s = T(0.38268343236508977173);
    constexpr T g = kInverseTransform ? -1 : 1;
    four(y);
    y[1] = y[1] * V{1, 1, c, c, h, h, s, s} + swapped(y[1]) * V{0, 0, g * s, -g * s, g * h, -g * h, g * c, -g * c};
    y[2] = y[2] * V{1, 1, h, h, 0, 0, -h, -h} + swapped(y[2]) * V{0, 0, g * h, -g * h, g, -g, g * h, -g * h};
    y[3] = y[3] * V{1, 1, s, s, -h, -h, -c, -c} + swapped(y[3]) * V{0, 0, g * c, -g * c, g * h, -g * h, -g * s, g * s};
    const V e01 = every_second<0>(y[0], y[1]), o01 = every_second<1>(y[0], y[1]);
    const V e23 = every_second<0>(y[2], y[3]), o23 = every_second<1>(y[2], y[3]);
    y[0] = every_second<0>(e01, e23);
    y[1] = every_second<0>(o01, o23);
    y[2] = every_second<1>(e01, e23);
    y[3] = every_second<1>(o01, o23);
  }
};

// Table entries.
template <class T, size_t N>
constexpr Line<T> tangent_pairs_line() {
  return {N,
          N / 4,
          {N, 0, 0, 0},
          {TangentPairs<T, false, N>::run, TangentPairs<T, true, N>::run},
          {nullptr, nullptr},
          1,
          LineTableKind::none};
}
template <class T, size_t W, size_t A, size_t B>
constexpr Line<T> tangent_whole() {
  using K = Tangent<T, W>;
  return {A * B,
          W,
          {A, B, 0, 0},
          {TangentWhole<K, false, A, B>::run, TangentWhole<K, true, A, B>::run},
          {nullptr, nullptr},
          1,
          LineTableKind::tangents_whole};
}
template <class T, size_t W, size_t A, size_t B, size_t C = 1>
constexpr Line<T> tangent_line() {
  using K = Tangent<T, W>;
  return {A * B * C,
          W,
          {A, B, C == 1 ? 0 : C, 0},
          {TangentLine<K, false, A, B, C>::run, TangentLine<K, true, A, B, C>::run},
          {nullptr, nullptr},
          1,
          LineTableKind::tangents};
}
template <class Forward, class Inverse, class T = typename Forward::T>
inline constexpr LineSteps<T> kTangentSteps{Forward::kFirstParts,
                                            Forward::kSecondParts,
                                            Forward::kBlock* Forward::kSecondParts,
                                            Forward::kBuffer,
                                            {Forward::first_part, Inverse::first_part},
                                            {Forward::template rows_step<false>, Inverse::template rows_step<false>},
                                            {Forward::template rows_step<true>, Inverse::template rows_step<true>}};

template <class T, size_t W, size_t A, size_t B, size_t D, size_t E, size_t G = 1>
constexpr Line<T> tangent_square() {
  using K = Tangent<T, W>;
  using Forward = TangentSquare<K, false, A, B, D, E, G>;
  using Inverse = TangentSquare<K, true, A, B, D, E, G>;
  Line<T> entry{A * B * G * D * E,
                W,
                {A, B, D, E, G == 1 ? 0 : G},
                {Forward::template run<false>, Inverse::template run<false>},
                {nullptr, nullptr},
                1,
                LineTableKind::tangents_square,
                {Forward::template run<true>, Inverse::template run<true>}};
  // Lines that fit L2 several times finish longer lines.
  if constexpr (A * B * G * D * E * 2 * sizeof(T) == 128 * 1024) {
    entry.leaf[0] = Forward::template run<false, true>;
    entry.leaf[1] = Inverse::template run<false, true>;
  }
  if constexpr (G > 1) entry.steps = &kTangentSteps<Forward, Inverse>;
  return entry;
}
