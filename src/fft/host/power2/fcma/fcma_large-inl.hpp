// Table entries for levels and columns of one precision, inside the namespace.

template <template <bool> class Policy, size_t R>
constexpr Level<typename Policy<false>::T> level_of() {
  return {R,
          {level<Policy<false>, R, true>, level<Policy<true>, R, true>},
          {level<typename Policy<false>::Core, R, false>, level<typename Policy<true>::Core, R, false>}};
}

template <template <bool> class Policy, size_t A, size_t B = 1, size_t C = 1>
constexpr ColumnLine<typename Policy<false>::T> column_line() {
  return {A * B * C,
          {A, B == 1 ? 0 : B, C == 1 ? 0 : C, 0},
          {ColumnLineOf<Policy<false>, true, A, B, C>::run, ColumnLineOf<Policy<true>, true, A, B, C>::run},
          {ColumnLineOf<Policy<false>, false, A, B, C>::run, ColumnLineOf<Policy<true>, false, A, B, C>::run}};
}

template <template <bool> class Policy, size_t R>
constexpr ColumnLevel<typename Policy<false>::T> column_level_of() {
  return {R,
          {column_level<Policy<false>, R, true>, column_level<Policy<true>, R, true>},
          {column_level<typename Policy<false>::Core, R, false>, column_level<typename Policy<true>::Core, R, false>}};
}
