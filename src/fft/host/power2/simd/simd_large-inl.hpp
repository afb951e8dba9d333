// Table entries of the Highway engines' levels and columns; included once per target, inside HWY_NAMESPACE.

template <class T, size_t R>
constexpr Level<T> level_of() {
  using Forward = Split<T, kWideLanes<T>, false>;
  using Inverse = Split<T, kWideLanes<T>, true>;
  return {R, {level<Forward, R, true>, level<Inverse, R, true>}, {level<Forward, R, false>, level<Forward, R, false>}};
}

template <class T, size_t A, size_t B = 1, size_t C = 1>
constexpr ColumnLine<T> column_line() {
  using Forward = Split<T, kWideLanes<T>, false>;
  using Inverse = Split<T, kWideLanes<T>, true>;
  return {A * B * C,
          {A, B == 1 ? 0 : B, C == 1 ? 0 : C, 0},
          {ColumnLineOf<Forward, true, A, B, C>::run, ColumnLineOf<Inverse, true, A, B, C>::run},
          {ColumnLineOf<Forward, false, A, B, C>::run, ColumnLineOf<Inverse, false, A, B, C>::run}};
}

template <class T, size_t R>
constexpr ColumnLevel<T> column_level_of() {
  using Forward = Split<T, kWideLanes<T>, false>;
  using Inverse = Split<T, kWideLanes<T>, true>;
  return {R,
          {column_level<Forward, R, true>, column_level<Inverse, R, true>},
          {column_level<Forward, R, false>, column_level<Forward, R, false>}};
}

template <class T, size_t A, size_t B>
constexpr Batch<T> batch() {
  using Forward = Split<T, kWideLanes<T>, false>;
  using Inverse = Split<T, kWideLanes<T>, true>;
  // A single line fills the vectors if its length is at least the square of their lanes.
  if constexpr (A * B < kWideLanes<T> * kWideLanes<T>) {
    return {A * B, {A, B, 0, 0}, {BatchOf<Forward, A, B>::run, BatchOf<Inverse, A, B>::run}};
  }
  return {A * B, {A, B, 0, 0}, {nullptr, nullptr}};
}

constexpr const char* target_name() {
  switch (HWY_TARGET) {
    case HWY_NEON:
      return "neon";
    case HWY_SSE4:
      return "sse4";
    case HWY_AVX2:
      return "avx2";
    case HWY_AVX3:
      return "avx512";
    default:
      return "scalar";
  }
}
