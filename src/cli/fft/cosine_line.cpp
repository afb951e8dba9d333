// Computes the factors and shifts that make a cosine or sine transform a complex one.
#include "cli/fft/cosine_line.hpp"

namespace ridge::cli {
namespace {

using fft::RealKind;
constexpr std::complex<double> kI(0, 1);

std::size_t complex_length(RealKind kind, std::size_t n) {
  switch (kind) {
    case RealKind::halfcomplex:
    case RealKind::halfcomplex_inverse:
    case RealKind::hartley:
      return n;
    case RealKind::dct1:
      return 2 * (n - 1);
    case RealKind::dst1:
      return 2 * (n + 1);
    default:
      return 2 * n;
  }
}

}  // namespace

CosineLine::CosineLine(RealKind kind, std::size_t n)
    : kind_(kind), n_(n), length_(complex_length(kind, n)), root_(8 * n, 1) {
  in_shift_ = kind == RealKind::dst1 || kind == RealKind::dst3 ? 1 : 0;
  out_shift_ = kind == RealKind::dst1 || kind == RealKind::dst2 ? 1 : 0;
  inverse_ = kind == RealKind::halfcomplex_inverse || kind == RealKind::dct3 || kind == RealKind::dst3;
}

std::complex<double> CosineLine::before(std::size_t j) const {
  switch (kind_) {
    case RealKind::halfcomplex_inverse:
      if (j > n_ / 2) return -2.0 * kI;
      return j == 0 || 2 * j == n_ ? 1.0 : 2.0;
    case RealKind::dct1:
      return j == 0 || j + 1 == n_ ? 1.0 : 2.0;
    case RealKind::dct3:
      return j == 0 ? 1.0 : 2.0 * root_(2 * j);  // exp(i pi j / (2n))
    case RealKind::dst3:
      return (j + 1 == n_ ? -kI : -2.0 * kI) * root_(2 * (j + 1));
    case RealKind::dct4:
    case RealKind::dst4:
      return std::conj(root_(2 * j));
    default:
      return 1.0;
  }
}

std::complex<double> CosineLine::after(std::size_t k) const {
  switch (kind_) {
    case RealKind::halfcomplex:
      return k > n_ / 2 ? kI : 1.0;
    case RealKind::hartley:
      return 1.0 + kI;
    case RealKind::dst1:
      return 2.0 * kI;
    case RealKind::dct2:
      return 2.0 * std::conj(root_(2 * k));
    case RealKind::dst2:
      return 2.0 * kI * std::conj(root_(2 * (k + 1)));
    case RealKind::dct4:
      return 2.0 * std::conj(root_(2 * k + 1));
    case RealKind::dst4:
      return 2.0 * kI * std::conj(root_(2 * k + 1));
    default:
      return 1.0;
  }
}

}  // namespace ridge::cli
