// One real transform of one length on one core, along the last axis.
#pragma once
#include <complex>
#include <cstddef>
#include <string>

namespace ridge::fft {

// n samples <-> the n/2 + 1 first values of their spectrum, both directions unscaled. Immutable once made, so that any
// number of threads may run it, each with its own scratch. The inverse takes the imaginary part of the first value,
// and for even n of the last, for zero; forward writes zeros there.
template <class T>
class RealKernel {
 public:
  using Complex = std::complex<T>;
  virtual ~RealKernel() = default;
  virtual std::size_t length() const = 0;
  virtual std::string describe() const = 0;
  virtual double flops() const = 0;  // really done, one transform
  // Complex elements of scratch (64-byte aligned) that every call needs.
  virtual std::size_t scratch() const = 0;

  // In and out may start at the same address (in place); other overlaps do not work. The input is not changed else.
  virtual void forward(const T* in, Complex* out, Complex* scratch) const = 0;
  virtual void inverse(const Complex* in, T* out, Complex* scratch) const = 0;

  // `count` transforms; the distances are in elements of that side: T or Complex. In place where both sides start at
  // the same address and the distance of the samples is twice that of the spectra.
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
