// Real transforms of odd lengths p * m by a first pass of real radix p.
#include <algorithm>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/aligned.hpp"
#include "fft/host/prime/columns_by_lines.hpp"
#include "fft/host/real/odd_pass.hpp"
#include "fft/host/real/real.hpp"
#include "fft/roots.hpp"

namespace ridge::fft {
namespace {

using namespace real;
using prime::padded_points;

// Odd n = p * m: real sums of p samples make one real row of m and p / 2 complex ones; the other rows are their
// conjugates. Row t holds frequencies t + p k.
template <class T>
class RealOdd final : public RealKernel<T> {
 public:
  using Complex = std::complex<T>;

  RealOdd(std::size_t n, std::size_t p, const ShareLine<T>& line)
      : n_(n),
        m_(n / p),
        pass_(odd_pass<T>(p)),
        first_(make_real<T>(m_, line)),
        along_(line(m_)),
        cosines_(half() * m_),
        sines_(half() * m_) {
    const AnyRoots<T> roots(n);
    for (std::size_t t = 1; t <= half(); ++t) {
      for (std::size_t c = 0; c < m_; ++c) {
        const Complex w = roots.at(c * t);
        cosines_[(t - 1) * m_ + c] = w.real();
        sines_[(t - 1) * m_ + c] = -w.imag();
      }
    }
  }

  std::size_t length() const override { return n_; }
  std::string describe() const override { return fmt::format("{} real columns, {}", pass_.p, along_->describe()); }
  double flops() const override {
    const double h = static_cast<double>(half()), m = static_cast<double>(m_);
    return m * (4 * h * h + 9 * h) + h * along_->flops() + first_->flops();
  }
  std::size_t scratch() const override {
    return padded_points<T>(m_) + padded_points<T>(m_ / 2 + 1) + half() * stride() +
           std::max(along_->scratch(), first_->scratch());
  }

  void forward(const T* in, Complex* out, Complex* scratch) const override {
    const Parts parts = parts_of(scratch);
    pass_.forward(in, m_, parts.samples, reinterpret_cast<T*>(parts.rows), stride(), cosines_.data(), sines_.data());
    first_->forward(parts.samples, parts.spectrum, parts.rest);
    along_->run_many(Direction::forward, parts.rows, stride(), parts.rows, stride(), half(), parts.rest);
    for (std::size_t k = 0; k <= m_ / 2; ++k) out[pass_.p * k] = parts.spectrum[k];
    for (std::size_t t = 1; t <= half(); ++t) {
      const Complex* row = parts.rows + (t - 1) * stride();
      const std::size_t own = (n_ / 2 - t) / pass_.p + 1;  // frequencies up to n / 2; the others are mirrored
      for (std::size_t k = 0; k < own; ++k) out[t + pass_.p * k] = row[k];
      for (std::size_t k = own; k < m_; ++k) out[n_ - t - pass_.p * k] = std::conj(row[k]);
    }
  }

  void inverse(const Complex* in, T* out, Complex* scratch) const override {
    const Parts parts = parts_of(scratch);
    for (std::size_t k = 0; k <= m_ / 2; ++k) parts.spectrum[k] = in[pass_.p * k];
    for (std::size_t t = 1; t <= half(); ++t) {
      Complex* row = parts.rows + (t - 1) * stride();
      const std::size_t own = (n_ / 2 - t) / pass_.p + 1;
      for (std::size_t k = 0; k < own; ++k) row[k] = in[t + pass_.p * k];
      for (std::size_t k = own; k < m_; ++k) row[k] = std::conj(in[n_ - t - pass_.p * k]);
    }
    first_->inverse(parts.spectrum, parts.samples, parts.rest);
    along_->run_many(Direction::inverse, parts.rows, stride(), parts.rows, stride(), half(), parts.rest);
    pass_.inverse(parts.samples, reinterpret_cast<const T*>(parts.rows), stride(), m_, cosines_.data(), sines_.data(),
                  out);
  }

 private:
  struct Parts {
    T* samples;         // row 0
    Complex* spectrum;  // of row 0
    Complex* rows;
    Complex* rest;
  };
  Parts parts_of(Complex* scratch) const {
    Complex* const spectrum = scratch + padded_points<T>(m_);
    Complex* const rows = spectrum + padded_points<T>(m_ / 2 + 1);
    return {reinterpret_cast<T*>(scratch), spectrum, rows, rows + half() * stride()};
  }
  std::size_t half() const { return pass_.p / 2; }
  std::size_t stride() const { return padded_points<T>(m_); }

  std::size_t n_, m_;
  OddPass<T> pass_;
  std::unique_ptr<RealKernel<T>> first_;
  std::shared_ptr<const LineKernel<T>> along_;
  base::AlignedArray<T> cosines_, sines_;
};

}  // namespace

std::size_t real_odd_factor(std::size_t n) {
  if (n % 2 == 0) return 0;
  for (const std::size_t p : kOddFactors) {
    if (n % p == 0 && n / p >= 3) return p;
  }
  return 0;
}

template <class T>
std::unique_ptr<RealKernel<T>> make_real_odd(std::size_t n, const ShareLine<T>& line) {
  const std::size_t p = real_odd_factor(n);
  if (p == 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("got {} samples: needs an odd length with a proper factor from 3 to 13", n));
  }
  return std::make_unique<RealOdd<T>>(n, p, line);
}

template std::unique_ptr<RealKernel<float>> make_real_odd(std::size_t, const ShareLine<float>&);
template std::unique_ptr<RealKernel<double>> make_real_odd(std::size_t, const ShareLine<double>&);

}  // namespace ridge::fft
