// One long line by all threads: n = rows * columns, transforms down the columns, a twiddle, transforms along the rows.
#pragma once
#include <complex>
#include <cstddef>
#include <memory>

#include "base/aligned.hpp"
#include "fft/host/shared_line.hpp"

namespace ridge::fft {

template <class T>
class TwoStep final : public SharedLine<T> {
 public:
  using Complex = std::complex<T>;
  using Line = std::shared_ptr<const LineKernel<T>>;
  TwoStep(Line down, Line along);

  // The factors nearest to the square root; {0, 0} if one of them would be too short.
  struct Factors {
    std::size_t rows, columns;
  };
  static Factors factors(std::size_t n);

  std::size_t points() const override { return rows_ * columns_; }
  std::size_t work() const override { return (rows_ * row_ + 15) / 16 * 16; }
  std::size_t own_scratch() const override;
  double flops_done() const override;
  // Numbers of column strips and row blocks.
  std::size_t first_parts() const override;
  std::size_t second_parts() const override;
  void first(Direction direction, std::size_t part, const Complex* in, Complex* work, bool past,
             Complex* scratch) const override;
  void second(Direction direction, std::size_t part, Complex* work, Complex* out, bool past,
              Complex* scratch) const override;

 private:
  Line down_, along_;
  std::size_t rows_, columns_, row_;    // row_: padded row of the work array
  base::AlignedArray<Complex> coarse_;  // W^(r c) for the first column of every strip, strip after strip
  base::AlignedArray<Complex> fine_;    // W^(r c) for c within a strip
};

extern template class TwoStep<float>;
extern template class TwoStep<double>;

}  // namespace ridge::fft
