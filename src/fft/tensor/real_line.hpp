// One real-to-real transform of one length on one core.
#pragma once
#include <complex>
#include <cstddef>
#include <functional>
#include <memory>
#include <string>

#include <ridge/fft/tensor.hpp>

#include "fft/host/real/real.hpp"

namespace ridge::fft {

// Immutable; any number of threads may run it, each with its own scratch. in == out is allowed.
template <class T>
class RealLine {
 public:
  using Complex = std::complex<T>;
  virtual ~RealLine() = default;
  virtual std::size_t length() const = 0;
  virtual std::string describe() const = 0;
  virtual double flops() const = 0;
  virtual std::size_t scratch() const = 0;  // complex elements, 64-byte aligned
  virtual void run(const T* in, T* out, Complex* scratch) const = 0;
};

// Source of the inner transforms: the planner's choice for a length.
template <class T>
struct LineSource {
  ShareLine<T> line;                                                        // complex
  std::function<std::shared_ptr<const RealKernel<T>>(std::size_t)> real{};  // real
};

// Throws Error{invalid_argument} if the kind does not exist for the length.
template <class T>
std::unique_ptr<RealLine<T>> make_real_line(RealKind kind, std::size_t n, const LineSource<T>& source);

// Implementations, one file each.
template <class T>
std::unique_ptr<RealLine<T>> make_halfcomplex(RealKind kind, std::size_t n, const LineSource<T>& source);
template <class T>
std::unique_ptr<RealLine<T>> make_extended(RealKind kind, std::size_t n, const LineSource<T>& source);  // types I
template <class T>
std::unique_ptr<RealLine<T>> make_type2(RealKind kind, std::size_t n, const LineSource<T>& source);
template <class T>
std::unique_ptr<RealLine<T>> make_type3(RealKind kind, std::size_t n, const LineSource<T>& source);
template <class T>
std::unique_ptr<RealLine<T>> make_type4_even(RealKind kind, std::size_t n, const LineSource<T>& source);
template <class T>
std::unique_ptr<RealLine<T>> make_type4_odd(RealKind kind, std::size_t n, const LineSource<T>& source);

// Rounds scratch up to whole cache lines.
inline std::size_t whole_lines(std::size_t complex_elements) { return (complex_elements + 15) / 16 * 16; }

}  // namespace ridge::fft
