// As many points as a square of lanes, turned in registers between two butterflies: no scratch. Sixteen registers of data,
// so it takes a machine with thirty-two.

template <class P>
struct WholeLine {
  using T = typename P::T;
  static constexpr size_t L = P::kLanes;
  static void run(const T* in, size_t in_distance, T* out, size_t out_distance, size_t count, const T* const* tables,
                  T*) {
    const typename P::Constants c = P::constants();
    const T* const twiddles = tables[0];
    for (size_t i = 0; i < count; ++i, in += 2 * in_distance, out += 2 * out_distance) {
      typename P::V r[L];
#pragma GCC unroll 8
      for (size_t q = 0; q < L; ++q) r[q] = P::load_user(in + 2 * L * q);
      butterfly<P, L>(r, c);
#pragma GCC unroll 8
      for (size_t k = 1; k < L; ++k) r[k] = P::times_lanes(twiddles + 2 * L * (k - 1), r[k]);
      typename P::R1 re[L], im[L];
#pragma GCC unroll 8
      for (size_t k = 0; k < L; ++k) re[k] = r[P::point(k)].re, im[k] = r[P::point(k)].im;
      P::transpose(re);
      P::transpose(im);
#pragma GCC unroll 8
      for (size_t p = 0; p < L; ++p) r[P::point(p)] = {re[p], im[p]};
      butterfly<P, L>(r, c);
#pragma GCC unroll 8
      for (size_t f = 0; f < L; ++f) P::store_user(out + 2 * L * f, r[f]);
    }
  }
};

template <class T>
constexpr Line<T> whole_line() {
  constexpr size_t L = kWideLanes<T>;
  Line<T> entry{L * L,
                L,
                {L, L},
                {WholeLine<Split<T, L, false>>::run, WholeLine<Split<T, L, true>>::run},
                {nullptr, nullptr}};
  entry.tables = LineTableKind::whole;
  return entry;
}
