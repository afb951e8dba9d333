// Transforms larger than the caches: decimation-in-frequency passes for the depth-first descent, and the final
// reordering.

// Few streams: advancing pointers, two vectors per step, so that stores are paired and cache lines are used whole.
template <class P, size_t R, bool kUser, class T = typename P::T>
[[gnu::always_inline]] inline void narrow_level(const T* in, size_t in_stream, T* out, size_t out_stream, size_t count,
                                                const T* twiddles) {
  constexpr size_t L = P::kLanes, U = 2;
  const typename P::Constants c = P::constants();
  const T* i[R];
  T* o[R];
#pragma GCC unroll 16
  for (size_t j = 0; j < R; ++j) {
    i[j] = in + 2 * in_stream * j;
    o[j] = out + 2 * out_stream * j;
  }
  for (size_t p = 0; p < count; p += U * L, twiddles += 2 * L * (R - 1) * U) {
#pragma GCC unroll 16
    for (size_t j = 1; j < R; ++j) {
      hide(i[j]);
      hide(o[j]);
    }
    typename P::V r[U][R];
#pragma GCC unroll 2
    for (size_t u = 0; u < U; ++u) {
#pragma GCC unroll 16
      for (size_t j = 0; j < R; ++j) r[u][j] = fetch<P, kUser>(i[j] + 2 * L * u);
    }
#pragma GCC unroll 2
    for (size_t u = 0; u < U; ++u) {
      butterfly<P, R>(r[u], c);
#pragma GCC unroll 16
      for (size_t k = 1; k < R; ++k) {
        r[u][k] = P::times_lanes(twiddles + 2 * L * ((R - 1) * u + k - 1), r[u][k]);
      }
    }
#pragma GCC unroll 16
    for (size_t j = 0; j < R; ++j) {
#pragma GCC unroll 2
      for (size_t u = 0; u < U; ++u) P::store(o[j] + 2 * L * u, r[u][j]);
      i[j] += 2 * L * U;
      o[j] += 2 * L * U;
    }
  }
}

// Many streams: one index for all of them.
template <class P, size_t R, bool kUser, class T = typename P::T>
[[gnu::always_inline]] inline void wide_level(const T* in, size_t in_stream, T* out, size_t out_stream, size_t count,
                                              const T* twiddles) {
  constexpr size_t L = P::kLanes;
  const typename P::Constants c = P::constants();
  for (size_t p = 0; p < count; p += L, twiddles += 2 * L * (R - 1)) {
    typename P::V r[R];
#pragma GCC unroll 16
    for (size_t j = 0; j < R; ++j) r[j] = fetch<P, kUser>(in + 2 * (in_stream * j + p));
    butterfly<P, R>(r, c);
#pragma GCC unroll 16
    for (size_t k = 1; k < R; ++k) r[k] = P::times_lanes(twiddles + 2 * L * (k - 1), r[k]);
#pragma GCC unroll 16
    for (size_t k = 0; k < R; ++k) P::store(out + 2 * (out_stream * k + p), r[k]);
  }
}

template <class P, size_t R, bool kUser, class T = typename P::T>
void level(const T* in, size_t in_stream, T* out, size_t out_stream, size_t count, const T* twiddles) {
  if constexpr (R <= 4) narrow_level<P, R, kUser>(in, in_stream, out, out_stream, count, twiddles);
  if constexpr (R > 4) wide_level<P, R, kUser>(in, in_stream, out, out_stream, count, twiddles);
}

// A tile is one cache line of points from as many blocks; it is read and written by cache lines.
template <class P, class T = typename P::T>
void reorder(const T* in, const size_t* offsets, size_t blocks, size_t leaf, T* out) {
  constexpr size_t tile = 64 / (2 * sizeof(T));
  for (size_t b = 0; b < blocks; b += tile) {
    const T* source[tile];
    for (size_t i = 0; i < tile; ++i) source[i] = in + 2 * offsets[b + i];
    for (size_t k = 0; k < leaf; k += tile) P::transpose_tile(source, 2 * k, out + 2 * (k * blocks + b), 2 * blocks);
  }
}
