// Lengths 2 to 16 as one butterfly: `kLanes` transforms together in registers, the remaining ones one at a time.

template <class P, class One, size_t N>
struct ShortLine {
  using T = typename P::T;
  static void run(const T* in, size_t in_distance, T* out, size_t out_distance, size_t count, const T* const*, T*) {
    constexpr size_t L = P::kLanes;
    size_t i = 0;
    if constexpr (L > 1) {
      const typename P::Constants c = P::constants();
      for (; i + L <= count; i += L, in += 2 * L * in_distance, out += 2 * L * out_distance) {
        typename P::V r[N];
        P::template gather<N>(in, in_distance, r);
        butterfly<P, N>(r, c);
        P::template scatter<N>(out, out_distance, r);
      }
    }
    const typename One::Constants c = One::constants();
    for (; i < count; ++i, in += 2 * in_distance, out += 2 * out_distance) {
      typename One::V r[N];
#pragma GCC unroll 16
      for (size_t k = 0; k < N; ++k) r[k] = One::load_user(in + 2 * k);
      butterfly<One, N>(r, c);
#pragma GCC unroll 16
      for (size_t k = 0; k < N; ++k) One::store_user(out + 2 * k, r[k]);
    }
  }
};

// As many as a strip: for lengths where a single transform is faster as a line.
template <class P, class One, size_t N>
struct ShortBatch {
  using T = typename P::T;
  static void run(const T* in, size_t in_distance, T* out, size_t out_distance, const T* const* tables, T* scratch) {
    ShortLine<P, One, N>::run(in, in_distance, out, out_distance, P::kStrip, tables, scratch);
  }
};
