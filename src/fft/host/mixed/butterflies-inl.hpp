// Highway operations required by odd_butterflies-inl.hpp. Included inside the namespace of each instruction set; P is
// its forward policy.

// power2's policy, as a distinct type from the one below.
template <class Real, size_t kLaneCount>
struct Planes : Split<Real, kLaneCount, false> {
  static constexpr bool kPair = false;
};

// One complex number in one vector of two lanes: half the instructions of two planes with one lane each, for single
// transforms.
template <class Real, bool kInverse>
struct Pair {
  using T = Real;
  using D = hn::CappedTag<T, 2>;
  using R1 = hn::Vec<D>;
  static constexpr bool kPair = true;
  struct V {
    HWY_INLINE V() {}
    HWY_INLINE explicit V(R1 pair) : both(pair) {}
    R1 both;
  };
  struct Constants {
    R1 rotation;  // (1, -1) forward: -i b is b with its lanes exchanged, times this
  };
  static HWY_INLINE Constants constants() {
    HWY_ALIGN static constexpr T kSigns[2] = {kInverse ? T(-1) : T(1), kInverse ? T(1) : T(-1)};
    return {hn::LoadU(D(), kSigns)};
  }
  static HWY_INLINE V load(const T* p) { return V(hn::LoadU(D(), p)); }
  static HWY_INLINE void store(T* p, V v) { hn::StoreU(v.both, D(), p); }
  static HWY_INLINE V add(V a, V b) { return V(hn::Add(a.both, b.both)); }
  static HWY_INLINE V sub(V a, V b) { return V(hn::Sub(a.both, b.both)); }
  static HWY_INLINE V rotate(V a, V b) {
    return V(hn::MulAdd(hn::Reverse2(D(), b.both), constants().rotation, a.both));
  }
  static HWY_INLINE V unrotate(V a, V b) {
    return V(hn::NegMulAdd(hn::Reverse2(D(), b.both), constants().rotation, a.both));
  }
  // Multiplies by the forward root, or by its conjugate for the inverse.
  static HWY_INLINE V times(R1 re, R1 im, V x) {
    const R1 crossed = hn::Mul(hn::Reverse2(D(), x.both), im);
    return V(hn::NegMulAdd(crossed, constants().rotation, hn::Mul(x.both, re)));
  }
};

template <class P, class V = typename P::V, class K = typename P::R1>
HWY_INLINE V scaled(V a, K k) {
  if constexpr (P::kPair) return V(hn::Mul(a.both, k));
  if constexpr (!P::kPair) return V(hn::Mul(a.re, k), hn::Mul(a.im, k));
}
template <class P, class V = typename P::V, class K = typename P::R1>
HWY_INLINE V plus_scaled(V a, K k, V sum) {
  if constexpr (P::kPair) return V(hn::MulAdd(a.both, k, sum.both));
  if constexpr (!P::kPair) return V(hn::MulAdd(a.re, k, sum.re), hn::MulAdd(a.im, k, sum.im));
}
template <class P, class V = typename P::V, class K = typename P::R1>
HWY_INLINE V minus_scaled(V a, K k, V sum) {
  if constexpr (P::kPair) return V(hn::NegMulAdd(a.both, k, sum.both));
  if constexpr (!P::kPair) return V(hn::NegMulAdd(a.re, k, sum.re), hn::NegMulAdd(a.im, k, sum.im));
}
template <class P>
HWY_INLINE typename P::R1 constant(double value) {
  return hn::Set(typename P::D(), static_cast<typename P::T>(value));
}
template <class P, class V = typename P::V>
HWY_INLINE V times_root(double re, double im, V x) {
  return P::times(constant<P>(re), constant<P>(im), x);
}
