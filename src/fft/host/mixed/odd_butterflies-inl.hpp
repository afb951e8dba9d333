// Butterflies of the odd radices and of products of coprime ones, natural order in and out; those of powers of two are
// power2's. Included inside the namespace of each instruction set, behind scaled(), plus_scaled(), minus_scaled(),
// constant() and times_root() for its policies P.

template <size_t R>
struct CosineSine;  // cos and sin of 2 pi k / R for k = 1 .. R / 2
template <>
struct CosineSine<3> {
  static constexpr double c[] = {-0.5}, s[] = {0.86602540378443864676};
};
template <>
struct CosineSine<5> {
  static constexpr double c[] = {0.30901699437494742410, -0.80901699437494742410},
                          s[] = {0.95105651629515357212, 0.58778525229247312917};
};
template <>
struct CosineSine<7> {
  static constexpr double c[] = {0.62348980185873353053, -0.22252093395631440429, -0.90096886790241912624},
                          s[] = {0.78183148246802980871, 0.97492791218182360702, 0.43388373911755812048};
};
template <>
struct CosineSine<11> {
  static constexpr double c[] = {0.84125353283118116886, 0.41541501300188642553, -0.14231483827328514044,
                                 -0.65486073394528506406, -0.95949297361449738989},
                          s[] = {0.54064081745559758211, 0.90963199535451837141, 0.98982144188093273238,
                                 0.75574957435425828377, 0.28173255684142969771};
};
template <>
struct CosineSine<13> {
  static constexpr double c[] = {0.88545602565320989590,  0.56806474673115580251,  0.12053668025532305335,
                                 -0.35460488704253562597, -0.74851074817110109863, -0.97094181742605202716},
                          s[] = {0.46472317204376854566, 0.82298386589365639458, 0.99270887409805399280,
                                 0.93501624268541482344, 0.66312265824079520238, 0.23931566428755776715};
};

// Sums of symmetric pairs are multiplied by cosines, differences by sines: multiply-adds only.
template <class P, size_t R, class V = typename P::V>
[[gnu::always_inline]] inline void odd_butterfly(V* r) {
  constexpr size_t h = R / 2;
  V a[h], b[h];
#pragma GCC unroll 8
  for (size_t k = 0; k < h; ++k) {
    a[k] = P::add(r[k + 1], r[R - 1 - k]);
    b[k] = P::sub(r[k + 1], r[R - 1 - k]);
  }
  const V x = r[0];
  V sum = x;
#pragma GCC unroll 8
  for (size_t k = 0; k < h; ++k) sum = P::add(sum, a[k]);
  r[0] = sum;
  // All sums are accumulated in parallel: one after another, each addition would wait for the previous one.
  V c[h], s[h];
#pragma GCC unroll 8
  for (size_t k = 1; k <= h; ++k) {
#pragma GCC unroll 8
    for (size_t t = 1; t <= h; ++t) {
      const size_t exponent = k * t % R, index = (exponent <= h ? exponent : R - exponent) - 1;
      const auto cosine = constant<P>(CosineSine<R>::c[index]), sine = constant<P>(CosineSine<R>::s[index]);
      c[t - 1] = plus_scaled<P>(a[k - 1], cosine, k == 1 ? x : c[t - 1]);
      if (k == 1) {
        s[t - 1] = scaled<P>(b[0], sine);
      } else if (exponent <= h) {
        s[t - 1] = plus_scaled<P>(b[k - 1], sine, s[t - 1]);
      } else {
        s[t - 1] = minus_scaled<P>(b[k - 1], sine, s[t - 1]);
      }
    }
  }
#pragma GCC unroll 8
  for (size_t t = 1; t <= h; ++t) {
    r[t] = P::rotate(c[t - 1], s[t - 1]);
    r[R - t] = P::unrotate(c[t - 1], s[t - 1]);
  }
}

template <class P, size_t R, class V = typename P::V>
[[gnu::always_inline]] inline void any_butterfly(V* r, const typename P::Constants& constants);

// Three columns of three, ninth roots, three rows.
template <class P, class V = typename P::V>
[[gnu::always_inline]] inline void butterfly9(V* r) {
  V column[3][3];
#pragma GCC unroll 3
  for (size_t j = 0; j < 3; ++j) {
    column[j][0] = r[j], column[j][1] = r[j + 3], column[j][2] = r[j + 6];
    odd_butterfly<P, 3>(column[j]);
  }
  column[1][1] = times_root<P>(0.76604444311897803520, -0.64278760968653932632, column[1][1]);
  column[1][2] = times_root<P>(0.17364817766693034885, -0.98480775301220805937, column[1][2]);
  column[2][1] = times_root<P>(0.17364817766693034885, -0.98480775301220805937, column[2][1]);
  column[2][2] = times_root<P>(-0.93969262078590838405, -0.34202014332566873304, column[2][2]);
#pragma GCC unroll 3
  for (size_t k = 0; k < 3; ++k) {
    V row[3] = {column[0][k], column[1][k], column[2][k]};
    odd_butterfly<P, 3>(row);
    r[k] = row[0], r[k + 3] = row[1], r[k + 6] = row[2];
  }
}

constexpr size_t inverse_modulo(size_t a, size_t m) {
  for (size_t x = 1; x < m; ++x) {
    if (a * x % m == 1) return x;
  }
  return 0;
}

// Good-Thomas: coprime factors need no twiddles, only another order, which here only renames registers.
template <class P, size_t A, size_t B, class V = typename P::V>
[[gnu::always_inline]] inline void coprime_butterfly(V* r, const typename P::Constants& constants) {
  constexpr size_t N = A * B, from_a = B * inverse_modulo(B % A, A), from_b = A * inverse_modulo(A % B, B);
  V grid[A][B];
#pragma GCC unroll 16
  for (size_t a = 0; a < A; ++a) {
#pragma GCC unroll 16
    for (size_t b = 0; b < B; ++b) grid[a][b] = r[(B * a + A * b) % N];
    any_butterfly<P, B>(grid[a], constants);
  }
#pragma GCC unroll 16
  for (size_t b = 0; b < B; ++b) {
    V column[A];
#pragma GCC unroll 16
    for (size_t a = 0; a < A; ++a) column[a] = grid[a][b];
    any_butterfly<P, A>(column, constants);
#pragma GCC unroll 16
    for (size_t a = 0; a < A; ++a) r[(from_a * a + from_b * b) % N] = column[a];
  }
}

template <class P, size_t R, class V>
[[gnu::always_inline]] inline void any_butterfly(V* r, const typename P::Constants& constants) {
  if constexpr (R == 6) {
    coprime_butterfly<P, 2, 3>(r, constants);
  } else if constexpr (R == 9) {
    butterfly9<P>(r);
  } else if constexpr (R == 10) {
    coprime_butterfly<P, 2, 5>(r, constants);
  } else if constexpr (R == 12) {
    coprime_butterfly<P, 3, 4>(r, constants);
  } else if constexpr (R == 14) {
    coprime_butterfly<P, 2, 7>(r, constants);
  } else if constexpr (R == 15) {
    coprime_butterfly<P, 3, 5>(r, constants);
  } else if constexpr (R == 18) {
    coprime_butterfly<P, 2, 9>(r, constants);
  } else if constexpr (R == 20) {
    coprime_butterfly<P, 4, 5>(r, constants);
  } else if constexpr (R == 21) {
    coprime_butterfly<P, 3, 7>(r, constants);
  } else if constexpr (R == 24) {
    coprime_butterfly<P, 3, 8>(r, constants);
  } else if constexpr (R % 2 == 1) {
    odd_butterfly<P, R>(r);
  } else {
    butterfly<P, R>(r, constants);
  }
}
