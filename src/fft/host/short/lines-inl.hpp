// Short transforms as straight-line code. Included after the policies of an instruction set and all butterflies.

// One butterfly, with as many adjacent transforms as a vector has lanes.
template <class P, size_t N>
struct Whole {
  using T = typename P::T;
  static void one(const T* in, T* out, const T*) {
    const typename P::Constants c = P::constants();
    typename P::V r[N];
#pragma GCC unroll 32
    for (size_t k = 0; k < N; ++k) r[k] = P::load_half(in + 2 * k);
    any_butterfly<P, N>(r, c);
#pragma GCC unroll 32
    for (size_t k = 0; k < N; ++k) P::store_half(out + 2 * k, r[k]);
  }
  static void many(const T* in, size_t in_distance, T* out, size_t out_distance, size_t count, const T* twiddles) {
    constexpr size_t L = P::kLanes;
    const typename P::Constants c = P::constants();
    if constexpr (L == 2) {
      if (in_distance == N && out_distance == N) {
        // Several of the shortest transforms per step, with software prefetch: otherwise the hardware prefetcher falls
        // behind.
        constexpr size_t kPairs = N <= 2 ? 4 : N <= 4 ? 2 : 1, kStep = 2 * L * N * kPairs, kLead = 2048 / sizeof(T);
        for (; count >= L * kPairs; count -= L * kPairs, in += kStep, out += kStep) {
#pragma GCC unroll 8
          for (size_t line = 0; line < kStep; line += 64 / sizeof(T)) __builtin_prefetch(in + kLead + line);
          typename P::V r[kPairs][N];
#pragma GCC unroll 4
          for (size_t u = 0; u < kPairs; ++u) P::template gather_packed<N>(in + 2 * L * N * u, r[u]);
#pragma GCC unroll 4
          for (size_t u = 0; u < kPairs; ++u) any_butterfly<P, N>(r[u], c);
#pragma GCC unroll 4
          for (size_t u = 0; u < kPairs; ++u) P::template scatter_packed<N>(out + 2 * L * N * u, r[u]);
        }
      }
    }
    for (; count >= L; count -= L, in += 2 * L * in_distance, out += 2 * L * out_distance) {
      typename P::V r[N];
      P::template gather_any<N>(in, in_distance, r);
      any_butterfly<P, N>(r, c);
      P::template scatter_any<N>(out, out_distance, r);
    }
    for (; count > 0; --count, in += 2 * in_distance, out += 2 * out_distance) one(in, out, twiddles);
  }
};

// A rows of B: butterflies down the columns, neighbouring columns in the lanes of a vector; twiddles; then along the
// rows, neighbouring rows in the lanes. Up to kRegisterPoints the intermediate points stay in registers.
template <class P, size_t A, size_t B>
struct Rows {
  using T = typename P::T;
  using V = typename P::V;
  static constexpr size_t L = P::kLanes, kBlocks = (A + L - 1) / L;  // blocks of rows
  static constexpr size_t kFullColumns = B / L * L;
  static constexpr bool kInRegisters = A * B <= 16 * L;

  [[gnu::always_inline]] static void butterflies_down(const T* in, size_t j, bool full, V (&r)[A], const T* twiddles,
                                                      const typename P::Constants& c) {
#pragma GCC unroll 16
    for (size_t s = 0; s < A; ++s) r[s] = full ? P::load(in + 2 * (j + B * s)) : P::load_half(in + 2 * (j + B * s));
    any_butterfly<P, A>(r, c);
    if (L > 1 || j > 0) {
#pragma GCC unroll 16
      for (size_t t = 1; t < A; ++t) r[t] = P::times_lanes(twiddles + 2 * (j * (A - 1) + L * (t - 1)), r[t]);
    }
  }

  // z[j][t / L]: neighbouring rows t of column j.
  [[gnu::always_inline]] static void down(const T* in, size_t j, bool full, V (&z)[B][kBlocks], const T* twiddles,
                                          const typename P::Constants& c) {
    V r[A];
    butterflies_down(in, j, full, r, twiddles, c);
    V first[kBlocks], second[kBlocks];
#pragma GCC unroll 16
    for (size_t b = 0; b < kBlocks; ++b) {
      if constexpr (L == 1) {
        first[b] = r[b];
      } else {
        const V next = r[2 * b + 1 < A ? 2 * b + 1 : 2 * b];
        first[b] = P::low(r[2 * b], next);
        if (full) second[b] = P::high(r[2 * b], next);
      }
    }
    put(z[j], first);
    if (L > 1 && full) put(z[j + 1], second);
  }
  [[gnu::always_inline]] static void put(V (&row)[kBlocks], const V (&values)[kBlocks]) {
    if constexpr (kInRegisters) {
#pragma GCC unroll 16
      for (size_t b = 0; b < kBlocks; ++b) row[b] = values[b];
    } else {
      T* const p = reinterpret_cast<T*>(&row);
#pragma GCC unroll 8
      for (size_t b = 0; b + 1 < kBlocks; b += 2) P::store_two(p + 2 * L * b, values[b], values[b + 1]);
      if constexpr (kBlocks % 2 == 1) P::store(p + 2 * L * (kBlocks - 1), values[kBlocks - 1]);
    }
  }

  // kSteps blocks of rows at once, whose results are adjacent.
  template <size_t kSteps>
  [[gnu::always_inline]] static void along(V (&z)[B][kBlocks], size_t block, bool full, T* out,
                                           const typename P::Constants& c) {
    V r[kSteps][B];
#pragma GCC unroll 2
    for (size_t u = 0; u < kSteps; ++u) {
#pragma GCC unroll 16
      for (size_t j = 0; j < B; ++j) r[u][j] = z[j][block + u];
      any_butterfly<P, B>(r[u], c);
    }
    out += 2 * L * block;
#pragma GCC unroll 16
    for (size_t f = 0; f < B; ++f) {
      if constexpr (kSteps == 2) {
        P::store_two(out + 2 * A * f, r[0][f], r[1][f]);
      } else if (full) {
        P::store(out + 2 * A * f, r[0][f]);
      } else {
        P::store_half(out + 2 * A * f, r[0][f]);
      }
    }
  }

  [[gnu::always_inline]] static void run(const T* in, T* out, const T* twiddles, const typename P::Constants& c) {
    V z[B][kBlocks];
    constexpr size_t kFullBlocks = A / L, kTwo = B <= 8 ? kFullBlocks / 2 * 2 : 0;
    if constexpr (kInRegisters) {
#pragma GCC unroll 16
      for (size_t j = 0; j < kFullColumns; j += L) down(in, j, true, z, twiddles, c);
      if constexpr (kFullColumns < B) down(in, kFullColumns, false, z, twiddles, c);
#pragma GCC unroll 16
      for (size_t b = 0; b < kTwo; b += 2) along<2>(z, b, true, out, c);
#pragma GCC unroll 16
      for (size_t b = kTwo; b < kFullBlocks; ++b) along<1>(z, b, true, out, c);
    } else {
#pragma GCC unroll 1
      for (size_t j = 0; j < kFullColumns; j += L) down(in, j, true, z, twiddles, c);
      if constexpr (kFullColumns < B) down(in, kFullColumns, false, z, twiddles, c);
#pragma GCC unroll 1
      for (size_t b = 0; b < kTwo; b += 2) along<2>(z, b, true, out, c);
#pragma GCC unroll 1
      for (size_t b = kTwo; b < kFullBlocks; ++b) along<1>(z, b, true, out, c);
    }
    if constexpr (kFullBlocks < kBlocks) along<1>(z, kFullBlocks, false, out, c);
  }

  static void one(const T* in, T* out, const T* twiddles) { run(in, out, twiddles, P::constants()); }
  static void many(const T* in, size_t in_distance, T* out, size_t out_distance, size_t count, const T* twiddles) {
    const typename P::Constants c = P::constants();
    // The columns touch all cache lines of a transform at once, which the prefetcher does not recognize as a stream.
    constexpr size_t kLead = 1024 / sizeof(T);
    for (; count > 0; --count, in += 2 * in_distance, out += 2 * out_distance) {
#pragma GCC unroll 4
      for (size_t p = 0; p < 2 * A * B; p += 64 / sizeof(T)) __builtin_prefetch(in + kLead + p);
      run(in, out, twiddles, c);
    }
  }
};

// Table entries: one variant for all uses, or one for a single transform and another for many.
template <template <bool> class Policy, size_t N>
constexpr auto whole() {
  using Forward = Whole<Policy<false>, N>;
  using Inverse = Whole<Policy<true>, N>;
  return Codelet<typename Forward::T>{
      N, {N, 0}, Policy<false>::kLanes, {Forward::one, Inverse::one}, {Forward::many, Inverse::many}};
}
template <template <bool> class Policy, size_t A, size_t B>
constexpr auto rows() {
  using Forward = Rows<Policy<false>, A, B>;
  using Inverse = Rows<Policy<true>, A, B>;
  return Codelet<typename Forward::T>{
      A * B, {A, B}, Policy<false>::kLanes, {Forward::one, Inverse::one}, {Forward::many, Inverse::many}};
}
template <template <bool> class Policy, size_t A, size_t B>
constexpr auto rows_alone() {
  using Forward = Rows<Policy<false>, A, B>;
  using Inverse = Rows<Policy<true>, A, B>;
  return Codelet<typename Forward::T>{A * B,
                                      {A, B},
                                      Policy<false>::kLanes,
                                      {Forward::one, Inverse::one},
                                      {Whole<Policy<false>, A * B>::many, Whole<Policy<true>, A * B>::many}};
}
