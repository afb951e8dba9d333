// Columns for algorithms that work along lines: a strip of columns is transposed to lines, transformed and transposed
// back.
#pragma once
#include <algorithm>

#include "fft/variant.hpp"

namespace ridge::fft::prime {

// Aligns parts of a scratch area to cache lines.
template <class T>
constexpr std::size_t padded_points(std::size_t n) {
  constexpr std::size_t kLine = 128 / sizeof(std::complex<T>);
  return (n + kLine - 1) / kLine * kLine;
}

template <class T>
class ColumnsByLines : public LineKernel<T> {
 public:
  using Complex = std::complex<T>;

  std::size_t scratch_columns() const override { return kStrip * distance() + this->scratch(); }

  void run_columns(Direction direction, const Complex* in, std::size_t in_stride, Complex* out, std::size_t out_stride,
                   std::size_t columns, Complex* scratch) const override {
    const std::size_t n = this->length();
    Complex* rest = scratch + kStrip * distance();
    for (std::size_t c = 0; c < columns; c += kStrip) {
      const std::size_t width = std::min(kStrip, columns - c);
      for (std::size_t p = 0; p < n; p += kTile) {
        const std::size_t end = std::min(n, p + kTile);
        for (std::size_t i = 0; i < width; ++i) {
          for (std::size_t q = p; q < end; ++q) scratch[i * distance() + q] = in[q * in_stride + c + i];
        }
      }
      this->run_many(direction, scratch, distance(), scratch, distance(), width, rest);
      // Row by row: whole cache lines of the caller's array.
      for (std::size_t p = 0; p < n; ++p) {
        for (std::size_t i = 0; i < width; ++i) out[p * out_stride + c + i] = scratch[i * distance() + p];
      }
    }
  }

 private:
  static constexpr std::size_t kStrip = 128 / sizeof(Complex), kTile = 8;
  // An odd number of cache lines, so that the same point of all columns does not map to one cache set.
  std::size_t distance() const {
    constexpr std::size_t kLine = 128 / sizeof(Complex);
    return (padded_points<T>(this->length()) / kLine | 1) * kLine;
  }
};

}  // namespace ridge::fft::prime
