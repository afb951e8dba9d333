// Vectorized transforms in about twice the precision of double, for filters whose spectra are rounded once.
#pragma once
#include <algorithm>
#include <complex>
#include <cstddef>

#include "base/aligned.hpp"
#include "fft/roots.hpp"

namespace ridge::fft::prime {

// Points in four arrays: the value of a part is high + low, where low may exceed the last bit of high.
struct WidePointer {
  double *re, *re_low, *im, *im_low;
  WidePointer operator+(std::size_t offset) const {
    return {re + offset, re_low + offset, im + offset, im_low + offset};
  }
};

// Padded to whole vectors. The arrays start in different cache sets.
class WidePoints {
 public:
  explicit WidePoints(std::size_t count) : stride_((count + 15) / 16 * 16 + 80), memory_(4 * stride_) {}
  void clear() { std::fill(memory_.begin(), memory_.end(), 0.0); }
  WidePointer at(std::size_t k) {
    double* p = memory_.data() + k;
    return {p, p + stride_, p + 2 * stride_, p + 3 * stride_};
  }
  Point<DoubleDouble> get(std::size_t k) const {
    const double* p = memory_.data() + k;
    return {{p[0], p[stride_]}, {p[2 * stride_], p[3 * stride_]}};
  }
  void set(std::size_t k, const Point<DoubleDouble>& value) {
    double* p = memory_.data() + k;
    p[0] = value.re.high, p[stride_] = value.re.low, p[2 * stride_] = value.im.high, p[3 * stride_] = value.im.low;
  }

 private:
  std::size_t stride_;
  base::AlignedArray<double> memory_;
};

// In place, forward, times `scale`; n may have any factors, small ones are fast. Both arrays have room for wide_room(n)
// points.
std::size_t wide_room(std::size_t n);
void wide_transform(WidePoints& points, WidePoints& spare, std::size_t n, DoubleDouble scale);

// Frequencies 0 .. length / 2 of an even sequence from its points at even and odd positions, by a transform of half its
// even length, for which both have room; times `scale` and rounded once. The points are overwritten.
void even_spectrum(WidePoints& even, WidePoints& odd, std::size_t length, DoubleDouble scale,
                   std::complex<double>* spectrum);

}  // namespace ridge::fft::prime
