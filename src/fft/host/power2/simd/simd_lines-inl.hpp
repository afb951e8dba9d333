// Table entries of the Highway engines' lines; included once per target, inside HWY_NAMESPACE.

constexpr size_t smaller(size_t a, size_t b) { return a < b ? a : b; }

// As wide as the first radix and the remaining length allow.
template <class T, size_t A, size_t B, size_t C = 1, size_t D = 1>
constexpr Line<T> line() {
  constexpr size_t L = smaller(kWideLanes<T>, smaller(A, B * C * D));
  using Forward = Split<T, L, false>;
  using Inverse = Split<T, L, true>;
  Line<T> entry{A * B * C * D,
                L,
                {A, B, C == 1 ? 0 : C, D == 1 ? 0 : D},
                {LineOf<Forward, true, A, B, C, D>::run, LineOf<Inverse, true, A, B, C, D>::run},
                {nullptr, nullptr}};
  if constexpr (L == kWideLanes<T> && A * B * C * D >= 256) {
    entry.leaf[0] = LineOf<Forward, false, A, B, C, D>::run;
    entry.leaf[1] = LineOf<Inverse, false, A, B, C, D>::run;
  }
  return entry;
}

template <class T, size_t N>
constexpr Line<T> short_line() {
  constexpr size_t L = smaller(kWideLanes<T>, N);
  return {N,
          1,
          {N, 0, 0, 0},
          {ShortLine<Split<T, L, false>, Split<T, 1, false>, N>::run,
           ShortLine<Split<T, L, true>, Split<T, 1, true>, N>::run},
          {nullptr, nullptr}};
}
