// Butterflies of 2, 4, 8 and 16 points over vectors of complex numbers, natural order in and out.
//
// Included inside the namespace of each instruction set. P names the vector type V and its operations; the inverse
// direction is part of the policy: rotate(a, b) is a - i b forward and a + i b inverse; unrotate(a, b) is the reverse.

template <class P, class V = typename P::V>
[[gnu::always_inline]] inline void butterfly2(V* r) {
  const V a = r[0];
  r[0] = P::add(a, r[1]);
  r[1] = P::sub(a, r[1]);
}

template <class P, class V = typename P::V>
[[gnu::always_inline]] inline void butterfly4(V& a, V& b, V& c, V& d) {
  const V s0 = P::add(a, c), d0 = P::sub(a, c), s1 = P::add(b, d), d1 = P::sub(b, d);
  a = P::add(s0, s1);
  c = P::sub(s0, s1);
  b = P::rotate(d0, d1);
  d = P::unrotate(d0, d1);
}

// The odd outputs need W8 = sqrt(1/2) (1 - i): rotated first, then scaled in the addition.
template <class P, class V = typename P::V>
[[gnu::always_inline]] inline void butterfly8(V* r, const typename P::Constants& c) {
  const V a0 = P::add(r[0], r[4]), a1 = P::sub(r[0], r[4]), a2 = P::add(r[2], r[6]), a3 = P::sub(r[2], r[6]);
  const V b0 = P::add(r[1], r[5]), b1 = P::sub(r[1], r[5]), b2 = P::add(r[3], r[7]), b3 = P::sub(r[3], r[7]);
  const V e0 = P::add(a0, a2), e2 = P::sub(a0, a2), e1 = P::rotate(a1, a3), e3 = P::unrotate(a1, a3);
  const V f0 = P::add(b0, b2), f2 = P::sub(b0, b2), f1 = P::rotate(b1, b3), f3 = P::unrotate(b1, b3);
  const V g1 = P::rotate(f1, f1), g3 = P::unrotate(f3, f3);
  r[0] = P::add(e0, f0);
  r[4] = P::sub(e0, f0);
  r[2] = P::rotate(e2, f2);
  r[6] = P::unrotate(e2, f2);
  P::add_sub_half(e1, g1, c, r[1], r[5]);
  P::add_sub_half(e3, g3, c, r[7], r[3]);
}

// Four columns of four, the sixteenth roots, four rows. W8^3 and W16^9 stay negated; the following additions take their
// sign into account.
template <class P, class V = typename P::V>
[[gnu::always_inline]] inline void butterfly16(V* r, const typename P::Constants& c) {
#pragma GCC unroll 4
  for (int j = 0; j < 4; ++j) butterfly4<P>(r[j], r[j + 4], r[j + 8], r[j + 12]);
  r[5] = P::times_root1(r[5], c);
  r[13] = P::times_root3(r[13], c);
  r[7] = P::times_root3(r[7], c);
  r[15] = P::times_root1(r[15], c);
  const V g6 = P::rotate(r[6], r[6]), g14 = P::unrotate(r[14], r[14]);
  const V g9 = P::rotate(r[9], r[9]), g11 = P::unrotate(r[11], r[11]);
  V o[16];
  {
    V a = r[0], b = r[1], d = r[2], e = r[3];
    butterfly4<P>(a, b, d, e);
    o[0] = a, o[4] = b, o[8] = d, o[12] = e;
  }
  {
    V s0, d0;
    P::add_sub_half(r[4], g6, c, s0, d0);
    const V s1 = P::add(r[5], r[7]), d1 = P::sub(r[5], r[7]);
    o[1] = P::add(s0, s1), o[9] = P::sub(s0, s1), o[5] = P::rotate(d0, d1), o[13] = P::unrotate(d0, d1);
  }
  {
    const V s0 = P::rotate(r[8], r[10]), d0 = P::unrotate(r[8], r[10]);
    const V s1 = P::sub(g9, g11), d1 = P::add(g9, g11);
    P::add_sub_half(s0, s1, c, o[2], o[10]);
    P::rotate_half(d0, d1, c, o[6], o[14]);
  }
  {
    V s0, d0;
    P::add_sub_half(r[12], g14, c, d0, s0);
    const V s1 = P::sub(r[13], r[15]), d1 = P::add(r[13], r[15]);
    o[3] = P::add(s0, s1), o[11] = P::sub(s0, s1), o[7] = P::rotate(d0, d1), o[15] = P::unrotate(d0, d1);
  }
#pragma GCC unroll 16
  for (int i = 0; i < 16; ++i) r[i] = o[i];
}

template <class P, size_t R, class V = typename P::V>
[[gnu::always_inline]] inline void butterfly(V* r, [[maybe_unused]] const typename P::Constants& c) {
  static_assert(R == 1 || R == 2 || R == 4 || R == 8 || R == 16);
  if constexpr (R == 2) butterfly2<P>(r);
  if constexpr (R == 4) butterfly4<P>(r[0], r[1], r[2], r[3]);
  if constexpr (R == 8) butterfly8<P>(r, c);
  if constexpr (R == 16) butterfly16<P>(r, c);
}
