// Complex arithmetic on interleaved numbers without complex instructions: a rotation by i takes an exchange of parts
// and a fused product with signs; a product takes one exchange and one product more than with Armv8.3. `Parts` provides
// the instructions.
#pragma once
#include <cstddef>

namespace ridge::fft::shorts {

using std::size_t;

// cos and sin of pi / 8, and sqrt(1/2): the constants of a butterfly of sixteen.
inline constexpr double kCos1 = 0.92387953251128675613, kSin1 = 0.38268343236508977173;
inline constexpr double kHalfRoot = 0.70710678118654752440;

template <class Parts, bool kInverse>
struct Plain : Parts {
  using V = typename Parts::V;
  using T = typename Parts::T;
  struct Constants {
    V half;
  };
  [[gnu::always_inline]] static Constants constants() { return {Parts::all(kHalfRoot)}; }
  // Signs of a multiplication by i or -i, after the exchange of parts.
  [[gnu::always_inline]] static V signs() { return Parts::template signs<kInverse>(); }
  [[gnu::always_inline]] static V rotate(V a, V b) { return Parts::fused(a, Parts::swapped(b), signs()); }
  [[gnu::always_inline]] static V unrotate(V a, V b) { return Parts::fused_away(a, Parts::swapped(b), signs()); }
  // Roots are those of the forward transform; the inverse uses their conjugates.
  [[gnu::always_inline]] static V times_lanes(V w, V x) {
    const V crossed = Parts::product(signs(), Parts::imaginary_parts(w));
    return Parts::fused_away(Parts::product(x, Parts::real_parts(w)), Parts::swapped(x), crossed);
  }
  [[gnu::always_inline]] static V times_lanes(const T* w, V x) { return times_lanes(Parts::load(w), x); }
  // The same root in every lane.
  [[gnu::always_inline]] static V times_constant(V w, V x) { return times_lanes(w, x); }
  [[gnu::always_inline]] static V times(double re, double im, V x) {
    const V crossed = Parts::product(signs(), Parts::all(im));
    return Parts::fused_away(Parts::product(x, Parts::all(re)), Parts::swapped(x), crossed);
  }
  [[gnu::always_inline]] static V times_root1(V x, const Constants&) { return times(kCos1, -kSin1, x); }
  [[gnu::always_inline]] static V times_root3(V x, const Constants&) { return times(kSin1, -kCos1, x); }
  // a +- sqrt(1/2) b
  [[gnu::always_inline]] static void add_sub_half(V a, V b, const Constants& c, V& plus, V& minus) {
    plus = Parts::fused(a, b, c.half);
    minus = Parts::fused_away(a, b, c.half);
  }
  [[gnu::always_inline]] static void rotate_half(V a, V b, const Constants& c, V& minus_i, V& plus_i) {
    const V scaled = Parts::product(b, c.half);
    minus_i = rotate(a, scaled);
    plus_i = unrotate(a, scaled);
  }
};

}  // namespace ridge::fft::shorts
