// Whole transforms in cache: Stockham passes whose shapes are compile-time constants. First pass (radix A): lanes are
// neighbouring points, so twiddles differ by lane and the results are transposed into runs of A. Every later pass is
// vertical. A middle pass writes the results of each butterfly contiguously (whole cache lines, paired stores) and
// leaves the strided access to the loads of the next pass; the last pass restores the order: the block at storage index
// (g * B + k2) * C + k3 holds outputs g * lanes + A * k2 + A * B * k3.

// One pointer per result stream, for paired stores with short offsets. x86 has neither, and GCC would keep such
// pointers in vectors there.
#if defined(__aarch64__)
inline constexpr bool kPointerPerStream = true;
#else
inline constexpr bool kPointerPerStream = false;
#endif

template <class T>
[[gnu::always_inline]] inline void hide(T*& pointer) {
  // Hides from the compiler that two streams are a constant distance apart, which would prevent paired stores.
  asm("" : "+r"(pointer));
}

template <class P, bool kUser, class T = typename P::T>
[[gnu::always_inline]] inline typename P::V fetch(const T* p) {
  if constexpr (kUser) return P::load_user(p);
  if constexpr (!kUser) return P::load(p);
}

template <class P, size_t N, size_t R, bool kUser, class T = typename P::T>
[[gnu::always_inline]] inline void first_pass(const T* x, T* y, const T* twiddles) {
  constexpr size_t L = P::kLanes, m = N / R;
  static_assert(m % L == 0 && R % L == 0);
  const typename P::Constants c = P::constants();
  for (size_t p = 0; p < m; p += L, twiddles += 2 * L * (R - 1)) {
    typename P::V r[R];
#pragma GCC unroll 16
    for (size_t q = 0; q < R; ++q) r[q] = fetch<P, kUser>(x + 2 * (p + m * q));
    butterfly<P, R>(r, c);
#pragma GCC unroll 16
    for (size_t k = 1; k < R; ++k) r[k] = P::times_lanes(twiddles + 2 * L * (k - 1), r[k]);
    P::template store_transposed<R>(y + 2 * R * p, r);
  }
}

template <class P, size_t R, bool kTwiddles, class T = typename P::T>
[[gnu::always_inline]] inline void middle_group(const T* y, size_t stream, T* z, const T* twiddles,
                                                const typename P::Constants& c) {
  constexpr size_t L = P::kLanes;
  typename P::V r[R];
#pragma GCC unroll 16
  for (size_t j = 0; j < R; ++j) r[j] = P::load(y + stream * j);
  butterfly<P, R>(r, c);
  if constexpr (kTwiddles) {
#pragma GCC unroll 16
    for (size_t k = 1; k < R; ++k) r[k] = P::times_same(twiddles + P::kSame * (k - 1), r[k]);
  }
#pragma GCC unroll 16
  for (size_t k = 0; k < R; ++k) P::store(z + 2 * L * k, r[k]);
}

// S: product of the radices before this pass.
template <class P, size_t N, size_t S, size_t R, class T = typename P::T>
[[gnu::always_inline]] inline void middle_pass(const T* y, T* z, const T* twiddles) {
  constexpr size_t L = P::kLanes, m = N / S / R, groups = S / L;
  const typename P::Constants c = P::constants();
  for (size_t g = 0; g < groups; ++g, z += 2 * L * R) {
    middle_group<P, R, false>(y + 2 * L * g, 2 * S * m, z, twiddles, c);
  }
  for (size_t p = 1; p < m; ++p, twiddles += P::kSame * (R - 1)) {
    for (size_t g = 0; g < groups; ++g, z += 2 * L * R) {
      middle_group<P, R, true>(y + 2 * L * (g + groups * p), 2 * S * m, z, twiddles, c);
    }
  }
}

template <class P, size_t N, size_t R, size_t A, size_t B, size_t C, class T = typename P::T>
[[gnu::always_inline]] inline void last_pass(const T* z, T* out) {
  constexpr size_t L = P::kLanes, groups = A / L, stream = 2 * (N / R);
  // Two neighbouring vectors per step if registers allow: their stores are paired.
  constexpr size_t U = R <= 8 && groups % 2 == 0 && P::kRegisters >= 2 * 2 * R ? 2 : 1;
  const typename P::Constants c = P::constants();
  T* o[kPointerPerStream ? R : 1];
  for (size_t f = 0; f < (kPointerPerStream ? R : 1); ++f) o[f] = out + stream * f;
  const auto target = [&](size_t f) { return kPointerPerStream ? o[f] : o[0] + stream * f; };
  for (size_t k3 = 0; k3 < C; ++k3) {
    for (size_t k2 = 0; k2 < B; ++k2) {
      if constexpr (R <= 8 && kPointerPerStream) {
#pragma GCC unroll 16
        for (size_t f = 0; f < R; ++f) hide(o[f]);
      }
#pragma GCC unroll 8
      for (size_t g = 0; g < groups; g += U) {
        typename P::V r[U][R];
#pragma GCC unroll 2
        for (size_t u = 0; u < U; ++u) {
#pragma GCC unroll 16
          for (size_t p = 0; p < R; ++p) r[u][p] = P::load(z + stream * p + 2 * L * (((g + u) * B + k2) * C + k3));
        }
#pragma GCC unroll 2
        for (size_t u = 0; u < U; ++u) butterfly<P, R>(r[u], c);
#pragma GCC unroll 16
        for (size_t f = 0; f < R; ++f) {
#pragma GCC unroll 2
          for (size_t u = 0; u < U; ++u) P::store_user(target(f) + 2 * L * (g + u), r[u][f]);
        }
      }
#pragma GCC unroll 16
      for (size_t f = 0; f < (kPointerPerStream ? R : 1); ++f) o[f] += 2 * A;
    }
  }
}

template <class P, size_t N, size_t R, bool kUser, class T = typename P::T>
[[gnu::noinline]] void first_pass_call(const T* x, T* y, const T* twiddles) {
  first_pass<P, N, R, kUser>(x, y, twiddles);
}
template <class P, size_t N, size_t S, size_t R, class T = typename P::T>
[[gnu::noinline]] void middle_pass_call(const T* y, T* z, const T* twiddles) {
  middle_pass<P, N, S, R>(y, z, twiddles);
}
template <class P, size_t N, size_t R, size_t A, size_t B, size_t C, class T = typename P::T>
[[gnu::noinline]] void last_pass_call(const T* z, T* out) {
  last_pass<P, N, R, A, B, C>(z, out);
}

// The second buffer is offset by two cache lines, so that equal indices of both do not share an L1 set.
inline constexpr size_t kBufferPad = 128;

// Only passes that access the caller's data depend on the direction if the policy has a Core.
template <bool kFirst, class A, class B>
struct Pick {
  using Type = A;
};
template <class A, class B>
struct Pick<false, A, B> {
  using Type = B;
};

template <class P, bool kUser, size_t A, size_t B, size_t C = 1, size_t D = 1>
struct LineOf {
  using T = typename P::T;
  static constexpr size_t N = A * B * C * D;
  static void run(const T* in, size_t in_distance, T* out, size_t out_distance, size_t count, const T* const* tables,
                  T* scratch) {
    using Core = typename P::Core;
    using First = typename Pick<kUser, P, Core>::Type;
    T* const z = scratch + 2 * N + kBufferPad / sizeof(T);
    for (size_t i = 0; i < count; ++i, in += 2 * in_distance, out += 2 * out_distance) {
      // Three passes of a long line fill L1: out of place, the output serves as the first buffer.
      T* const y = C > 1 && D == 1 && N * sizeof(T) >= 8192 && in != out ? out : scratch;
      // The first pass accesses all cache lines of a short transform at once, which hides the stream from the
      // prefetcher.
      if (N <= 512 && i + 1 < count) {
        for (size_t p = 0; p < 2 * N; p += 64 / sizeof(T)) __builtin_prefetch(in + 2 * in_distance + p);
      }
      if constexpr (N <= 64) {
        first_pass<First, N, A, kUser>(in, y, tables[0]);
        last_pass<P, N, B, A, 1, 1>(y, out);
      } else {
        first_pass_call<First, N, A, kUser>(in, y, tables[0]);
        if constexpr (C == 1) {
          last_pass_call<P, N, B, A, 1, 1>(y, out);
        } else {
          middle_pass_call<Core, N, A, B>(y, z, tables[1]);
          if constexpr (D == 1) {
            last_pass_call<P, N, C, A, B, 1>(z, out);
          } else {
            middle_pass_call<Core, N, A * B, C>(z, y, tables[2]);
            last_pass_call<P, N, D, A, B, C>(y, out);
          }
        }
      }
    }
  }
};
