// Bluestein's algorithm: a transform of any length as a convolution with a chirp.
#include <algorithm>
#include <bit>
#include <type_traits>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/aligned.hpp"
#include "base/unit_root.hpp"
#include "fft/host/mixed/mixed.hpp"
#include "fft/host/prime/columns_by_lines.hpp"
#include "fft/host/prime/filter_spectrum.hpp"
#include "fft/host/prime/pointwise.hpp"
#include "fft/host/prime/prime.hpp"
#include "fft/roots.hpp"

namespace ridge::fft {
namespace {

using namespace prime;

// exp(-2 pi i k / n) with an error of about three bits of double, as a product of two table entries.
class DoubleRoots {
 public:
  explicit DoubleRoots(std::size_t n) : shift_(static_cast<int>(std::bit_width(n)) / 2) {
    const std::size_t fine = std::size_t{1} << shift_;
    for (std::size_t k = 0; k < fine; ++k) fine_.push_back(root(k, n));
    for (std::size_t k = 0; k < n; k += fine) coarse_.push_back(root(k, n));
  }
  std::complex<double> at(std::size_t k) const {
    const std::complex<double> a = coarse_[k >> shift_], b = fine_[k & (fine_.size() - 1)];
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }

 private:
  static std::complex<double> root(std::size_t k, std::size_t n) {
    const base::UnitRoot one = base::unit_root<double>(k, n);
    return {one.re, one.im};
  }
  int shift_;
  std::vector<std::complex<double>> coarse_, fine_;
};

// jk = (j^2 + k^2 - (k - j)^2) / 2: X[k] = c[k] * sum (x[j] c[j]) conj(c[k - j]) with the chirp c[j] = exp(-pi i j^2 /
// n).
template <class T>
class Bluestein final : public ColumnsByLines<T> {
 public:
  using Complex = std::complex<T>;

  Bluestein(std::size_t n, std::size_t padded, std::unique_ptr<LineKernel<T>> inner)
      : n_(n), padded_(padded), inner_(std::move(inner)), chirp_(n), filter_(padded / 2 + 1) {
    if (is_smooth(padded) && (sizeof(T) < sizeof(double) || in_double_for_double(padded))) {
      fill_in_double();
    } else {
      fill_exactly();
    }
  }

  std::size_t length() const override { return n_; }
  std::string describe() const override { return fmt::format("Bluestein {} on {}", padded_, inner_->describe()); }
  double flops() const override { return 2 * inner_->flops() + 6.0 * static_cast<double>(2 * n_ + padded_); }
  std::size_t scratch() const override { return 2 * padded_points<T>(padded_) + inner_->scratch(); }

  // The inverse conjugates chirp and filter; the filter's spectrum is symmetric, so conjugating it does the same.
  void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const override {
    const bool conjugate = direction == Direction::inverse;
    Complex *a = scratch, *b = a + padded_points<T>(padded_), *rest = b + padded_points<T>(padded_);
    const Pointwise<T>& simd = pointwise<T>();
    simd.multiply(conjugate, reinterpret_cast<const T*>(in), chirp_.re.data(), chirp_.im.data(),
                  reinterpret_cast<T*>(a), n_);
    std::fill_n(a + n_, padded_ - n_, Complex(0));
    inner_->run(Direction::forward, a, b, rest);
    simd.multiply_symmetric(conjugate, reinterpret_cast<T*>(b), filter_.re.data(), filter_.im.data(), padded_);
    inner_->run(Direction::inverse, b, a, rest);
    simd.multiply(conjugate, reinterpret_cast<T*>(a), chirp_.re.data(), chirp_.im.data(), reinterpret_cast<T*>(out),
                  n_);
  }

 private:
  // (j + 1)^2 modulo 2 n, from j^2.
  std::size_t next_square(std::size_t square, std::size_t j) const {
    const std::size_t next = square + 2 * j + 1;
    return next < 2 * n_ ? next : next - 2 * n_;
  }

  // True if the spectrum of an even filter is computed in double: exact ones take longer than the rest of the plan.
  // Short ones are fast, and passes of radix 5, or four of radix 3, have larger errors than the bound allows.
  static bool in_double_for_double(std::size_t padded) {
    return padded > kLongestExactFilter || (padded > 2048 && padded % 5 != 0 && padded % 81 != 0);
  }

  void fill_exactly() {
    const AnyRoots<double> roots(2 * n_);
    const DoubleDouble scale = DoubleDouble(1) / static_cast<double>(padded_);
    const bool halved = padded_ % 2 == 0;
    WidePoints even(wide_room(halved ? padded_ / 2 : padded_)), odd(halved ? wide_room(padded_ / 2) : 1);
    even.clear();
    odd.clear();
    const auto put = [&](std::size_t j, const Point<DoubleDouble>& value) {
      if (!halved) return even.set(j, value);
      (j % 2 == 0 ? even : odd).set(j / 2, value);
    };
    const auto put_chirp = [&](std::size_t j, Point<DoubleDouble> w) {
      chirp_.set(j, {static_cast<T>(static_cast<double>(w.re)), static_cast<T>(static_cast<double>(w.im))});
      w.im = -w.im;
      put(j, w);
      if (j > 0) put(padded_ - j, w);
    };
    put_chirp(0, {1, 0});
    for (std::size_t j = 1, square = 1; 2 * j <= n_; square = next_square(square, j), ++j) {
      const Point<DoubleDouble> w = roots.wide(square);
      put_chirp(j, w);
      put_chirp(n_ - j, n_ % 2 == 0 ? w : Point<DoubleDouble>{-w.re, -w.im});  // (n - j)^2 is j^2 + n^2 modulo 2 n
    }
    std::vector<std::complex<double>> spectrum(padded_ / 2 + 1);
    if (halved) {
      even_spectrum(even, odd, padded_, scale, spectrum.data());
    } else {
      spectrum = filter_spectrum<double>(even, padded_, scale);
    }
    for (std::size_t k = 0; k <= padded_ / 2; ++k) filter_.set(k, Complex(spectrum[k]));
  }

  // Double is precise enough for float's chirp, filter and spectrum. For double each value is averaged over its two
  // positions, since the filter is even, which reduces the error.
  void fill_in_double() {
    constexpr bool kForFloat = sizeof(T) < sizeof(double);
    const std::conditional_t<kForFloat, DoubleRoots, AnyRoots<double>> roots(2 * n_);
    const double scale = 1 / static_cast<double>(padded_);
    const bool halved = kForFloat && padded_ % 2 == 0 && padded_ >= 64 && padded_ <= kLongestHalved;
    std::complex<double> odd =
        0;  // the sum over odd positions, the one value that the half-length transform does not give
    base::AlignedArray<std::complex<double>> filter(halved ? padded_ / 2 : padded_);
    std::fill(filter.begin(), filter.end(), std::complex<double>(0));
    const auto put = [&](std::size_t j, std::complex<double> value) {
      if (!halved) {
        filter[j] = value;
      } else if (j % 2 == 0) {
        filter[j / 2] += value;
      } else {
        filter[j / 2] += std::complex<double>(-value.imag(), value.real());
        odd += value;
      }
    };
    for (std::size_t j = 0, square = 0; j < n_; square = next_square(square, j), ++j) {
      const std::complex<double> w = roots.at(square), value = std::conj(w) * scale;
      chirp_.set(j, Complex(w));
      put(j, value);
      if (j > 0) put(padded_ - j, value);
    }
    if constexpr (kForFloat) {
      spectrum_in_double(filter);
      if (halved) return fill_from_half(filter, odd);
    } else {
      spectrum_by(*inner_, filter);
    }
    for (std::size_t k = 0; k <= padded_ / 2; ++k) {
      filter_.set(k, Complex(0.5 * (filter[k] + filter[k == 0 ? 0 : padded_ - k])));
    }
  }

  // The spectrum of an even sequence x of M values from the transform Z of z[j] = x[2j] + i x[2j + 1]: the odd
  // positions contribute (Z[M/2 - k] - Z[k]) / (2 sin(2 pi k / M)), twiddles included. This loses some digits of double
  // where the sine is small.
  void fill_from_half(const base::AlignedArray<std::complex<double>>& z, std::complex<double> odd) {
    const std::size_t half = padded_ / 2;
    const DoubleRoots roots(padded_);
    const std::complex<double> even = z[0] - std::complex<double>(-odd.imag(), odd.real());
    filter_.set(0, Complex(even + odd));
    filter_.set(half, Complex(even - odd));
    for (std::size_t k = 1; 2 * k <= half; ++k) {
      const std::complex<double> w = roots.at(k), a = z[k], b = z[half - k];
      const std::complex<double> p = (a - b) * (0.5 / w.imag());  // w.imag() is minus the sine
      const std::complex<double> e(0.5 * (a.real() + b.real()) + w.real() * p.imag(),
                                   0.5 * (a.imag() + b.imag()) - w.real() * p.real());
      filter_.set(k, Complex(e + p));
      filter_.set(half - k, Complex(e - p));
    }
  }

  static constexpr std::size_t kLongestHalved = std::size_t{1} << 22;  // of padded points: nine digits are left

  std::size_t n_, padded_;
  std::unique_ptr<LineKernel<T>> inner_;
  DoubledTable<T> chirp_, filter_;
};

}  // namespace

template <class T>
std::unique_ptr<LineKernel<T>> make_bluestein(std::size_t n, std::size_t padded, const MakeLine<T>& make_inner) {
  if (n < 1 || n > (std::size_t{1} << 59) || padded < 2 * n - 1) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("{} points: Bluestein's transform needs a padded length of at least 2 n - 1, not {}", n, padded));
  }
  return std::make_unique<Bluestein<T>>(n, padded, make_inner(padded));
}

template std::unique_ptr<LineKernel<float>> make_bluestein(std::size_t, std::size_t, const MakeLine<float>&);
template std::unique_ptr<LineKernel<double>> make_bluestein(std::size_t, std::size_t, const MakeLine<double>&);

}  // namespace ridge::fft
