// The butterflies of a radix-2 transform without its bit reversal, in place. A convolution needs only these: decimation
// in frequency leaves the spectrum in bit-reversed order, a pointwise product does not depend on the order, and
// decimation in time restores the natural one.
#pragma once
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "fft/variant.hpp"

namespace ridge::fft::classic {

template <class T>
class Radix2Passes {
 public:
  using Complex = std::complex<T>;
  explicit Radix2Passes(std::size_t n);
  std::size_t length() const { return n_; }
  void decimate_in_time(Direction direction, Complex* x) const;       // bit-reversed order in, natural order out
  void decimate_in_frequency(Direction direction, Complex* x) const;  // natural order in, bit-reversed order out
  void bit_reverse(const Complex* in, Complex* out) const;            // in == out is allowed
  double flops() const;

 private:
  template <bool kInverse>
  void time_stages(Complex* x) const;
  template <bool kInverse>
  void frequency_stages(Complex* x) const;

  std::size_t n_;
  std::vector<Complex> roots_;           // exp(-2 pi i k / n), k < n / 2
  std::vector<std::uint32_t> reversed_;  // bit-reversed value of each index
};

extern template class Radix2Passes<float>;
extern template class Radix2Passes<double>;

}  // namespace ridge::fft::classic
