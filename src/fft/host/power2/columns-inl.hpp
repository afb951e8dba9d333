// Adjacent columns: the same passes with the columns of a strip as lanes, so that no shuffles are needed. A strip is
// kStrip columns wide, at least one cache line. The first pass reads the caller's rows, the last one writes them;
// between the two the strip is in scratch, in inner order.

template <class P, size_t R, bool kTwiddles, bool kUser, class T = typename P::T>
[[gnu::always_inline]] inline void column_group(const T* in, size_t in_step, T* z, size_t z_step, const T* twiddles,
                                                const typename P::Constants& c) {
  typename P::V r[R];
#pragma GCC unroll 16
  for (size_t j = 0; j < R; ++j) r[j] = fetch<P, kUser>(in + in_step * j);
  butterfly<P, R>(r, c);
  if constexpr (kTwiddles) {
#pragma GCC unroll 16
    for (size_t k = 1; k < R; ++k) r[k] = P::times_same(twiddles + P::kSame * (k - 1), r[k]);
  }
#pragma GCC unroll 16
  for (size_t k = 0; k < R; ++k) P::store(z + z_step * k, r[k]);
}

template <class P, size_t N, size_t R, bool kUser, class T = typename P::T>
[[gnu::noinline]] void column_first(const T* in, size_t in_row, T* z, const T* twiddles) {
  constexpr size_t L = P::kLanes, m = N / R, groups = P::kStrip / L;
  const typename P::Constants c = P::constants();
  for (size_t g = 0; g < groups; ++g, z += 2 * L * R) {
    column_group<P, R, false, kUser>(in + 2 * L * g, 2 * in_row * m, z, 2 * L, twiddles, c);
  }
  for (size_t p = 1; p < m; ++p, twiddles += P::kSame * (R - 1)) {
    const T* const row = in + 2 * in_row * p;
    for (size_t g = 0; g < groups; ++g, z += 2 * L * R) {
      column_group<P, R, true, kUser>(row + 2 * L * g, 2 * in_row * m, z, 2 * L, twiddles, c);
    }
  }
}

// Storage index (g * A + k1) * B + k2 holds output row k1 + A * k2 before the last pass, as in lines-inl.hpp.
template <class P, size_t N, size_t R, size_t A, size_t B, bool kUser, bool kUserOut = true, class T = typename P::T>
[[gnu::noinline]] void column_last(const T* z, size_t z_row, T* out, size_t out_row) {
  constexpr size_t L = P::kLanes, groups = P::kStrip / L, m = N / R;
  const typename P::Constants c = P::constants();
  for (size_t k2 = 0; k2 < B; ++k2) {
    for (size_t k1 = 0; k1 < A; ++k1) {
      T* const row = out + 2 * out_row * (k1 + A * k2);
      for (size_t g = 0; g < groups; ++g) {
        typename P::V r[R];
        // With a single pass: the caller's rows; otherwise the scratch of the previous pass.
        const T* const source = A * B == 1 ? z + 2 * L * g : z + 2 * L * ((g * A + k1) * B + k2);
        const size_t step = A * B == 1 ? 2 * z_row : 2 * P::kStrip * m;
#pragma GCC unroll 16
        for (size_t p = 0; p < R; ++p) r[p] = fetch<P, kUser>(source + step * p);
        butterfly<P, R>(r, c);
#pragma GCC unroll 16
        for (size_t f = 0; f < R; ++f) {
          T* const target = row + 2 * out_row * m * f + 2 * L * g;
          if constexpr (kUserOut) P::store_user(target, r[f]);
          if constexpr (!kUserOut) P::store(target, r[f]);
        }
      }
    }
  }
}

template <class P, size_t N, size_t S, size_t R, class T = typename P::T>
[[gnu::noinline]] void column_middle(const T* y, T* z, const T* twiddles) {
  middle_pass<P, N * P::kStrip, S * P::kStrip, R>(y, z, twiddles);
}

template <class P, bool kUser, size_t A, size_t B = 1, size_t C = 1>
struct ColumnLineOf {
  using T = typename P::T;
  static constexpr size_t N = A * B * C;
  static void run(const T* in, size_t in_row, T* out, size_t out_row, const T* const* tables, T* scratch) {
    using Core = typename P::Core;
    using First = typename Pick<kUser, P, Core>::Type;
    T* const y = scratch;
    T* const z = scratch + 2 * N * P::kStrip + kBufferPad / sizeof(T);
    if constexpr (B == 1) {
      column_last<P, N, A, 1, 1, kUser>(in, in_row, out, out_row);
    } else {
      column_first<First, N, A, kUser>(in, in_row, y, tables[0]);
      if constexpr (C == 1) {
        column_last<P, N, B, A, 1, false>(y, 0, out, out_row);
      } else {
        column_middle<Core, N, A, B>(y, z, tables[1]);
        column_last<P, N, C, A, B, false>(z, 0, out, out_row);
      }
    }
  }
};

template <class P, size_t R, bool kUser, class T = typename P::T>
void column_level(const T* in, size_t in_row, size_t in_stream, T* out, size_t out_stream, size_t count,
                  const T* twiddles) {
  constexpr size_t L = P::kLanes, groups = P::kStrip / L;
  const typename P::Constants c = P::constants();
  for (size_t p = 0; p < count; ++p, twiddles += P::kSame * (R - 1)) {
    const T* const row = in + 2 * in_row * p;
    T* const target = out + 2 * P::kStrip * p;
    for (size_t g = 0; g < groups; ++g) {
      column_group<P, R, true, kUser>(row + 2 * L * g, 2 * in_stream, target + 2 * L * g, 2 * out_stream, twiddles, c);
    }
  }
}
