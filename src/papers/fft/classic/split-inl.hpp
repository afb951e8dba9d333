// Common parts of the papers' SIMD kernels: split real and imaginary arrays, radix-2 stages of Stockham's algorithm.
// The inverse swaps the two arrays on input and output.
//
// Included once per target, inside HWY_NAMESPACE, after hwy/highway.h.

namespace hn = hwy::HWY_NAMESPACE;
using std::size_t;

#if HWY_TARGET == HWY_SCALAR
template <class T>
inline constexpr size_t kFullLanes = 1;
#else
template <class T>
inline constexpr size_t kFullLanes = HWY_LANES(T);
#endif

template <class T, size_t kLanes>
struct Lanes {
  using D = hn::CappedTag<T, kLanes>;
  using R = hn::Vec<D>;
};

template <class T>
struct Arrays {
  T *re, *im;
  HWY_INLINE Arrays at(size_t i) const { return {re + i, im + i}; }
};

template <class T, size_t kLanes>
HWY_INLINE void split(Direction direction, const std::complex<T>* in, Arrays<T> out, size_t n) {
  const typename Lanes<T, kLanes>::D d;
  if (direction == Direction::inverse) std::swap(out.re, out.im);
  const T* from = reinterpret_cast<const T*>(in);
  for (size_t i = 0; i < n; i += kLanes) {
    typename Lanes<T, kLanes>::R re, im;
    hn::LoadInterleaved2(d, from + 2 * i, re, im);
    hn::StoreU(re, d, out.re + i);
    hn::StoreU(im, d, out.im + i);
  }
}

template <class T, size_t kLanes>
HWY_INLINE void join(Direction direction, Arrays<T> in, std::complex<T>* out, size_t n) {
  const typename Lanes<T, kLanes>::D d;
  if (direction == Direction::inverse) std::swap(in.re, in.im);
  T* to = reinterpret_cast<T*>(out);
  for (size_t i = 0; i < n; i += kLanes) {
    hn::StoreInterleaved2(hn::LoadU(d, in.re + i), hn::LoadU(d, in.im + i), d, to + 2 * i);
  }
}

// a, b = a + w b, a - w b in six fused multiply-adds: four for the sum; the difference is 2 a - sum. Unlike the form
// that divides by a part of w, it is valid for every twiddle.
template <class D, class R>
HWY_INLINE void butterfly(D d, R& are, R& aim, R& bre, R& bim, R wre, R wim) {
  const R two = hn::Set(d, 2);
  const R re = hn::NegMulAdd(wim, bim, hn::MulAdd(wre, bre, are));
  const R im = hn::MulAdd(wim, bre, hn::MulAdd(wre, bim, aim));
  bre = hn::MulSub(two, are, re);
  bim = hn::MulSub(two, aim, im);
  are = re;
  aim = im;
}

// The stage after `done` points with n / (2 done) >= kLanes: all lanes of a vector share their twiddle.
template <class T, size_t kLanes>
HWY_INLINE void wide_stage(size_t n, size_t done, const std::complex<T>* twiddles, Arrays<T> x, Arrays<T> y) {
  const typename Lanes<T, kLanes>::D d;
  const size_t rest = n / (2 * done);
  for (size_t j = 0; j < done; ++j) {
    const auto wre = hn::Set(d, twiddles[j].real()), wim = hn::Set(d, twiddles[j].imag());
    const Arrays<T> a = x.at(2 * j * rest), b = a.at(rest), low = y.at(j * rest), high = low.at(n / 2);
    for (size_t k = 0; k < rest; k += kLanes) {
      auto are = hn::LoadU(d, a.re + k), aim = hn::LoadU(d, a.im + k);
      auto bre = hn::LoadU(d, b.re + k), bim = hn::LoadU(d, b.im + k);
      if (done == 1) {
        const auto re = hn::Add(are, bre), im = hn::Add(aim, bim);
        bre = hn::Sub(are, bre), bim = hn::Sub(aim, bim);
        are = re, aim = im;
      } else {
        butterfly(d, are, aim, bre, bim, wre, wim);
      }
      hn::StoreU(are, d, low.re + k);
      hn::StoreU(aim, d, low.im + k);
      hn::StoreU(bre, d, high.re + k);
      hn::StoreU(bim, d, high.im + k);
    }
  }
}

#if HWY_TARGET != HWY_SCALAR
// Lane l of the result is lane source[l] of the concatenation of a and b: with AVX-512 one instruction, otherwise a
// lookup in each and a selection.
template <class T, size_t kLanes, class R>
HWY_INLINE R pick(const size_t* source, R a, R b) {
  using D = typename Lanes<T, kLanes>::D;
  using Integer = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
  const D d;
  const hn::RebindToSigned<D> di;
#if HWY_TARGET == HWY_AVX3
  if constexpr (kLanes * sizeof(T) == 64) {
    HWY_ALIGN Integer index[kLanes];
    for (size_t l = 0; l < kLanes; ++l) index[l] = static_cast<Integer>(source[l]);
    const auto from = hn::Load(di, index);
    if constexpr (sizeof(T) == 4) return R{_mm512_permutex2var_ps(a.raw, from.raw, b.raw)};
    if constexpr (sizeof(T) == 8) return R{_mm512_permutex2var_pd(a.raw, from.raw, b.raw)};
  }
#endif
  HWY_ALIGN Integer lanes[kLanes], from_b[kLanes];
  for (size_t l = 0; l < kLanes; ++l) {
    lanes[l] = static_cast<Integer>(source[l] % kLanes);
    from_b[l] = source[l] >= kLanes ? -1 : 0;
  }
  const auto indices = hn::SetTableIndices(d, lanes);
  const auto mask = hn::MaskFromVec(hn::BitCast(d, hn::Load(di, from_b)));
  return hn::IfThenElse(mask, hn::TableLookupLanes(b, indices), hn::TableLookupLanes(a, indices));
}
#endif

constexpr size_t log2_lanes(size_t lanes) { return lanes == 1 ? 0 : 1 + log2_lanes(lanes / 2); }
