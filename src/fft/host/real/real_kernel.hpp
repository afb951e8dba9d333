// One real transform of one length on one core, along the last axis.
#pragma once
#include <complex>
#include <cstddef>
#include <string>

namespace ridge::fft {

// n samples <-> the first n/2 + 1 values of their spectrum, both directions unscaled. Immutable; any number of threads
// may run it, each with its own scratch. The inverse treats the imaginary part of the first value, and for even n of
// the last, as zero; forward writes zeros there.
template <class T>
class RealKernel {
 public:
  using Complex = std::complex<T>;
  virtual ~RealKernel() = default;
  virtual std::size_t length() const = 0;
  virtual std::string describe() const = 0;
  virtual double flops() const = 0;  // operations actually performed per transform
  // Complex elements of scratch (64-byte aligned) per call.
  virtual std::size_t scratch() const = 0;

  // Input and output may start at the same address (in place); other overlaps are not allowed. Otherwise the input is
  // not changed.
  virtual void forward(const T* in, Complex* out, Complex* scratch) const = 0;
  virtual void inverse(const Complex* in, T* out, Complex* scratch) const = 0;

  // `count` transforms; distances are in elements of that side: T or Complex. In place if both sides start at the same
  // address and the distance of the samples is twice that of the spectra.
  virtual void forward_many(const T* in, std::size_t in_distance, Complex* out, std::size_t out_distance,
                            std::size_t count, Complex* scratch) const {
    for (std::size_t i = 0; i < count; ++i) forward(in + i * in_distance, out + i * out_distance, scratch);
  }
  virtual void inverse_many(const Complex* in, std::size_t in_distance, T* out, std::size_t out_distance,
                            std::size_t count, Complex* scratch) const {
    for (std::size_t i = 0; i < count; ++i) inverse(in + i * in_distance, out + i * out_distance, scratch);
  }
};

}  // namespace ridge::fft
