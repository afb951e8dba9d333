// One long line by all threads: n = rows * columns, transforms down the columns, a twiddle, transforms along the rows.
// One barrier lies between the two steps.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>

#include "base/aligned.hpp"
#include "fft/variant.hpp"

namespace ridge::fft {

template <class T>
class TwoStep {
 public:
  using Complex = std::complex<T>;
  using Line = std::shared_ptr<const LineKernel<T>>;
  TwoStep(Line down, Line along);

  // The factors nearest to the square root; {0, 0} where one of them would be too short to be worth it.
  struct Factors {
    std::size_t rows, columns;
  };
  static Factors factors(std::size_t n);

  std::size_t length() const { return rows_ * columns_; }
  std::size_t work() const { return rows_ * row_; }  // elements shared by all threads
  std::size_t scratch() const;                       // elements of each thread
  double flops() const;
  // Contiguous points, in place or not. `past`: results go past the caches whatever the length, for they are one of
  // many that nobody reads soon.
  void run(Direction direction, const Complex* in, Complex* out, std::size_t threads, Complex* work,
           Complex* const* scratch, bool past = false) const;

 private:
  void columns_strip(Direction direction, const Complex* in, std::size_t first, Complex* work, bool stream,
                     Complex* scratch) const;
  void rows_block(Direction direction, std::size_t first, const Complex* work, Complex* out, bool stream,
                  Complex* scratch) const;

  Line down_, along_;
  std::size_t rows_, columns_, row_;    // row_: padded row of the work array
  base::AlignedArray<Complex> coarse_;  // W^(r c) for the first column of every strip, strip after strip
  base::AlignedArray<Complex> fine_;    // W^(r c) for c within a strip
};

extern template class TwoStep<float>;
extern template class TwoStep<double>;

}  // namespace ridge::fft
