// Vectors of interleaved complex numbers in Highway. Included once per target, inside HWY_NAMESPACE, after
// hwy/highway.h. The scalar target has no pairs of lanes: its kernels use the remainder loop only.

namespace hn = hwy::HWY_NAMESPACE;
using std::size_t;

#if HWY_TARGET != HWY_SCALAR

template <class T>
using Tag = hn::ScalableTag<T>;
template <class T>
using Vector = hn::Vec<Tag<T>>;
template <class T>
inline constexpr size_t kLanes = HWY_MAX_BYTES /
                                 sizeof(T);  // exact: the remaining targets have vectors of a fixed size
template <class T>
inline constexpr size_t kPoints = kLanes<T> / 2;

template <class T>
HWY_INLINE Vector<T> reverse_points(Vector<T> v) {
  const Tag<T> d;
  if constexpr (kPoints<T> == 1) {
    return v;
  } else if constexpr (sizeof(T) == 4) {
    const hn::Repartition<std::uint64_t, Tag<T>> d64;
    return hn::BitCast(d, hn::Reverse(d64, hn::BitCast(d64, v)));
  } else {
    return hn::Reverse2(d, hn::Reverse(d, v));
  }
}

// The sign bit at imaginary parts: Xor with it conjugates.
template <class T>
HWY_INLINE Vector<T> imaginary_signs() {
  const Tag<T> d;
  return hn::OddEven(hn::Set(d, T(-0.0)), hn::Zero(d));
}

// One point repeated over the vector.
template <class T>
HWY_INLINE Vector<T> same_point(const T* p) {
  const Tag<T> d;
  if constexpr (sizeof(T) == 4) {
    const hn::Repartition<std::uint64_t, Tag<T>> d64;
    std::uint64_t bits;
    std::memcpy(&bits, p, sizeof(bits));
    return hn::BitCast(d, hn::Set(d64, bits));
  } else {
    return hn::LoadDup128(d, p);
  }
}

// Multiplies by factors in the form of DoubledTable: re, re in one vector, -im, im in the other. Three operations.
template <bool kConjugate, class T>
HWY_INLINE Vector<T> times(Vector<T> x, Vector<T> re, Vector<T> im) {
  const Tag<T> d;
  const auto product = hn::Mul(x, re);
  if constexpr (kConjugate) return hn::NegMulAdd(hn::Reverse2(d, x), im, product);
  return hn::MulAdd(hn::Reverse2(d, x), im, product);
}

#endif

template <bool kConjugate, class T>
HWY_INLINE void times_one(const T* x, const T* re, const T* im, T* out) {
  const T a = x[0], b = x[1];
  const T s = kConjugate ? -im[1] : im[1];
  out[0] = a * re[0] - b * s;
  out[1] = b * re[0] + a * s;
}
