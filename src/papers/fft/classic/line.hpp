// Common parts of the classic variants: checked lengths, and columns transformed one by one through scratch.
#pragma once
#include <bit>
#include <complex>
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/complex_product.hpp"
#include "papers/fft/classic/classic.hpp"

namespace ridge::fft::classic {

inline std::size_t checked_length(std::size_t n) {
  if (!std::has_single_bit(n) || n > kMaxClassic) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("classic variants need a power of two up to 2^24, got {} points", n));
  }
  return n;
}

inline std::size_t log2_of(std::size_t n) { return static_cast<std::size_t>(std::countr_zero(n)); }

using base::product;

// Multiplies by -i (forward) or +i (inverse).
template <bool kInverse, class T>
std::complex<T> quarter_turn(std::complex<T> a) {
  return kInverse ? std::complex<T>{-a.imag(), a.real()} : std::complex<T>{a.imag(), -a.real()};
}

// Multiplies by a root; the tables hold the forward roots.
template <bool kInverse, class T>
std::complex<T> root(std::complex<T> forward) {
  return kInverse ? std::conj(forward) : forward;
}

template <class T>
class ClassicLine : public LineKernel<T> {
 public:
  using Complex = std::complex<T>;
  ClassicLine(std::size_t n, std::string description, double flops, std::size_t scratch)
      : n_(n), description_(std::move(description)), flops_(flops), scratch_((scratch + 7) / 8 * 8) {}
  std::size_t length() const override { return n_; }
  std::string describe() const override { return description_; }
  double flops() const override { return flops_; }
  std::size_t scratch() const override { return scratch_; }
  std::size_t scratch_columns() const override { return scratch_ + n_; }
  void run_columns(Direction direction, const Complex* in, std::size_t in_stride, Complex* out, std::size_t out_stride,
                   std::size_t columns, Complex* scratch) const override {
    Complex* line = scratch + scratch_;
    for (std::size_t c = 0; c < columns; ++c) {
      for (std::size_t p = 0; p < n_; ++p) line[p] = in[p * in_stride + c];
      this->run(direction, line, line, scratch);
      for (std::size_t p = 0; p < n_; ++p) out[p * out_stride + c] = line[p];
    }
  }

 private:
  std::size_t n_;
  std::string description_;
  double flops_;
  std::size_t scratch_;
};

// Parameters of one pass of the (2, 4, 4) kernel (v244.cpp), for every vector width.
// A pass of `radix` after `done` points; the twiddle of input s of block j is re[s * done + j], im[s * done + j].
template <class T>
struct GroupPass {
  std::size_t radix, done;
  std::vector<T> re, im;
};

}  // namespace ridge::fft::classic
