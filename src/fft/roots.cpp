// Fills tables of roots of unity, each entry computed in wider precision.
#include "fft/roots.hpp"

#include <bit>
#include <cmath>
#include <type_traits>

#include "base/unit_root.hpp"

namespace ridge::fft {

// Roots for float are computed in double, which is precise enough.
template <class T>
typename AnyRoots<T>::Part AnyRoots<T>::exact(std::size_t k, std::size_t n) {
  using Wide = std::conditional_t<(sizeof(T) < sizeof(double)), double, DoubleDouble>;
  const base::UnitRoot root = base::unit_root<Wide>(k, n);
  return {root.re, root.im, root.re_low, root.im_low};
}

template <class T>
AnyRoots<T>::AnyRoots(std::size_t n) : n_(n), shift_(static_cast<int>(std::bit_width(n) - 1) / 2) {
  // Roots of `step`, 2 step, ... For double only the first comes from sine and cosine; the others are products of two
  // earlier ones, which costs up to as many of the 106 bits as k has.
  const auto multiples = [n](std::size_t step, std::size_t count) {
    std::vector<Part> parts;
    parts.reserve(count);
    for (std::size_t k = 0; k < count; ++k) {
      const std::size_t lowest = k & (~k + 1);
      if (sizeof(T) < sizeof(double) || k <= 1 || 8 * (k * step) % n == 0) {
        parts.push_back(exact(k * step, n));
        continue;
      }
      const std::size_t first = k == lowest ? k / 2 : lowest;
      const Part &a = parts[k - first], &b = parts[first];
      const Point<DoubleDouble> product = Point<DoubleDouble>{{a.re, a.re_low}, {a.im, a.im_low}} *
                                          Point<DoubleDouble>{{b.re, b.re_low}, {b.im, b.im_low}};
      parts.push_back({product.re.high, product.im.high, product.re.low, product.im.low});
    }
    return parts;
  };
  const std::size_t fine = std::size_t{1} << shift_;
  fine_ = multiples(1, fine);
  coarse_ = multiples(fine, (n - 1) / fine + 1);
}

template <class T>
std::complex<T> AnyRoots<T>::at(std::size_t k) const {
  const Part& a = coarse_[k >> shift_];
  const Part& b = fine_[k & ((std::size_t{1} << shift_) - 1)];
  if constexpr (sizeof(T) < sizeof(double)) {
    return {static_cast<T>(a.re * b.re - a.im * b.im), static_cast<T>(a.re * b.im + a.im * b.re)};
  } else {
    // p + e is exactly x * y; the low parts and the errors add up to far below half an ulp of the result.
    const auto product = [](double x, double x_low, double y, double y_low, double& e) {
      const double p = x * y;
#ifdef FP_FAST_FMA
      e = std::fma(x, y_low, std::fma(x_low, y, std::fma(x, y, -p)));
#else
      e = std::fma(x, y, -p) + (x * y_low + x_low * y);
#endif
      return p;
    };
    const auto sum = [](double p, double e, double q, double f) {
      const double s = p + q, t = s - p;
      return s + (((p - (s - t)) + (q - t)) + (e + f));
    };
    double e, f;
    double p = product(a.re, a.re_low, b.re, b.re_low, e), q = product(-a.im, -a.im_low, b.im, b.im_low, f);
    const double re = sum(p, e, q, f);
    p = product(a.re, a.re_low, b.im, b.im_low, e), q = product(a.im, a.im_low, b.re, b.re_low, f);
    return {re, sum(p, e, q, f)};
  }
}

template class AnyRoots<float>;
template class AnyRoots<double>;

}  // namespace ridge::fft
