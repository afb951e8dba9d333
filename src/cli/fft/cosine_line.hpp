// A cosine or sine transform of one axis as a complex transform: y[k] = Re(after(k) W[k + out_shift]), where W is
// the unscaled transform of length() points whose point j + in_shift is before(j) x[j]; the other points are zero.
#pragma once
#include <complex>
#include <cstddef>

#include <ridge/fft/tensor.hpp>

#include "fft/panels/panel_roots.hpp"

namespace ridge::cli {

class CosineLine {
 public:
  CosineLine(fft::RealKind kind, std::size_t n);
  std::size_t length() const { return length_; }
  std::size_t in_shift() const { return in_shift_; }
  std::size_t out_shift() const { return out_shift_; }
  bool inverse() const { return inverse_; }  // W is the transform with exp(+2 pi i ...)
  std::complex<double> before(std::size_t j) const;
  std::complex<double> after(std::size_t k) const;

 private:
  fft::RealKind kind_;
  std::size_t n_, length_, in_shift_ = 0, out_shift_ = 0;
  bool inverse_ = false;
  fft::RootTables root_;  // exp(2 pi i m / (8 n))
};

}  // namespace ridge::cli
