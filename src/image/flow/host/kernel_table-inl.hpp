// Table of the kernels (kernels.hpp) for two engines. The search's lanes are candidates: eight at most.

template <class E>
static ptrdiff_t filter_pitch(int columns, int radius) {
  constexpr int S = FilterShape<E>::kStrip;
  return ptrdiff_t(columns + S - 1) / S * S + 2 * radius + 16;
}
template <class E>
static size_t filter_scratch(int radius) {
  return FilterShape<E>(radius).scratch();
}
template <class E>
static void filter_band(const FilterJob& job, int begin, int end, const FilterSums& sums, float* scratch) {
  if (exponents_of(job).clamp) {
    filter_strips<E, true>(job, begin, end, sums, scratch);
  } else {
    filter_strips<E, false>(job, begin, end, sums, scratch);
  }
}
template <class E>
static float own_weight(const FilterJob& job) {
  float lanes[E::kLanes];
  E::store(lanes, quick_power<E>(E::set(exponents_of(job).top)));
  return lanes[0];
}
template <class Candidates, class Pixels>
static constexpr Kernels kernel_table(const char* name) {
  return {name,
          search_rows<Candidates>,
          filter_pitch<Pixels>,
          filter_scratch<Pixels>,
          filter_band<Pixels>,
          own_weight<Pixels>};
}
