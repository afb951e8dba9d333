// The lines of one precision: included by fcma_float.cpp and fcma_double.cpp, inside the namespace.

template <template <bool> class Policy, size_t A, size_t B, size_t C = 1, size_t D = 1>
constexpr Line<typename Policy<false>::T> line() {
  return {A * B * C * D,
          Policy<false>::kLanes,
          {A, B, C == 1 ? 0 : C, D == 1 ? 0 : D},
          {LineOf<Policy<false>, true, A, B, C, D>::run, LineOf<Policy<true>, true, A, B, C, D>::run},
          {LineOf<Policy<false>, false, A, B, C, D>::run, LineOf<Policy<true>, false, A, B, C, D>::run}};
}

template <template <bool> class Policy, template <bool> class One, size_t N>
constexpr Line<typename Policy<false>::T> short_line() {
  return {N,
          1,
          {N, 0, 0, 0},
          {ShortLine<Policy<false>, One<false>, N>::run, ShortLine<Policy<true>, One<true>, N>::run},
          {nullptr, nullptr}};
}
