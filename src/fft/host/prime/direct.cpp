// Transforms of short lengths by the definition, from sums and differences of mirrored points.
#include <algorithm>
#include <mutex>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "fft/host/prime/columns_by_lines.hpp"
#include "fft/host/prime/direct_table.hpp"
#include "fft/host/prime/prime.hpp"

namespace ridge::fft {
namespace {

using namespace prime;

template <class T>
class Direct final : public ColumnsByLines<T> {
 public:
  using Complex = std::complex<T>;

  explicit Direct(std::size_t n)
      : n_(n),
        columns_(direct_columns<T>(n_)),
        table_(direct_table<T>(AnyRoots<T>(n), columns_, 2,
                               // The signs multiply the sum of differences and sines by -i when its parts are
                               // exchanged.
                               [](std::size_t kind, std::complex<T> root) {
                                 return kind == 0 ? std::complex<T>(root.real(), root.real())
                                                  : std::complex<T>(root.imag(), -root.imag());
                               })) {}

  std::size_t length() const override { return n_; }
  std::string describe() const override { return fmt::format("direct {}", n_); }
  double flops() const override { return 2.0 * static_cast<double>((n_ - 1) * (n_ - 1) + 3 * n_); }
  std::size_t scratch() const override { return n_ - 1; }
  void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const override {
    pointwise<T>().direct(direction == Direction::inverse, reinterpret_cast<const T*>(in), reinterpret_cast<T*>(out),
                          n_, table_.data(), columns_, reinterpret_cast<T*>(scratch));
  }

  std::size_t scratch_columns() const override {
    factors();
    return 2 * pointwise<T>().strip * n_;
  }
  void run_columns(Direction direction, const Complex* in, std::size_t in_stride, Complex* out, std::size_t out_stride,
                   std::size_t columns, Complex* scratch) const override {
    const std::size_t strip = pointwise<T>().strip;
    std::size_t c = 0;
    for (; c + strip <= columns; c += strip) {
      run_strip(direction, in + c, in_stride, out + c, out_stride, scratch);
    }
    if (c == columns) return;
    // Fewer columns than a strip: padded with zero columns.
    Complex* tile = scratch + strip * n_;
    const std::size_t width = columns - c;
    for (std::size_t p = 0; p < n_; ++p) {
      std::fill_n(std::copy_n(in + p * in_stride + c, width, tile + p * strip), strip - width, Complex(0));
    }
    run_strip(direction, tile, strip, tile, strip, scratch);
    for (std::size_t p = 0; p < n_; ++p) std::copy_n(tile + p * strip, width, out + p * out_stride + c);
  }

 private:
  void run_strip(Direction direction, const Complex* in, std::size_t in_stride, Complex* out, std::size_t out_stride,
                 Complex* scratch) const {
    pointwise<T>().direct_strip(direction == Direction::inverse, reinterpret_cast<const T*>(in), in_stride,
                                reinterpret_cast<T*>(out), out_stride, n_, factors(), reinterpret_cast<T*>(scratch));
  }

  // Computed on the first request for the columns' scratch, which every plan of columns makes before it runs.
  const T* factors() const {
    std::call_once(once_, [this] {
      factors_ = base::AlignedArray<T>((n_ - 1) * (n_ - 1) / 2);
      const AnyRoots<T> roots(n_);
      T* next = factors_.data();
      for (std::size_t k = 1; k <= (n_ - 1) / 2; ++k) {
        for (std::size_t j = 1; j <= (n_ - 1) / 2; ++j) {
          const std::complex<T> root = roots.at(j * k % n_);
          *next++ = root.real();
          *next++ = -root.imag();
        }
      }
    });
    return factors_.data();
  }

  std::size_t n_, columns_;
  base::AlignedArray<T> table_;
  mutable std::once_flag once_;
  mutable base::AlignedArray<T> factors_;
};

}  // namespace

template <class T>
std::unique_ptr<LineKernel<T>> make_direct(std::size_t n) {
  if (n % 2 == 0 || n < 3 || n > kMaxDirect || direct_columns<T>(n) >= n) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("got {} points: the direct sum needs odd lengths from 17 to {}", n, kMaxDirect));
  }
  return std::make_unique<Direct<T>>(n);
}

template std::unique_ptr<LineKernel<float>> make_direct(std::size_t);
template std::unique_ptr<LineKernel<double>> make_direct(std::size_t);

}  // namespace ridge::fft
