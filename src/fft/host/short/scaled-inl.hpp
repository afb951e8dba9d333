// Scaling operations for the odd butterflies, by the policies. Included inside the namespace of each precision's file,
// after the power-of-two butterflies.

template <class P, class V = typename P::V>
[[gnu::always_inline]] inline V scaled(V a, V k) {
  return P::multiply(a, k);
}
template <class P, class V = typename P::V>
[[gnu::always_inline]] inline V plus_scaled(V a, V k, V sum) {
  return P::multiply_add(sum, a, k);
}
template <class P, class V = typename P::V>
[[gnu::always_inline]] inline V minus_scaled(V a, V k, V sum) {
  return P::multiply_subtract(sum, a, k);
}
template <class P>
[[gnu::always_inline]] inline typename P::V constant(double value) {
  return P::pair(value, value);
}
template <class P, class V = typename P::V>
[[gnu::always_inline]] inline V times_root(double re, double im, V x) {
  return P::times_constant(P::pair(re, im), x);
}
