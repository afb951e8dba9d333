// Four-step transform: columns, twiddle factors, rows.
#include <algorithm>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "fft/host/prime/columns_by_lines.hpp"
#include "fft/host/prime/pointwise.hpp"
#include "fft/host/prime/prime.hpp"
#include "fft/roots.hpp"

namespace ridge::fft {
namespace {

using namespace prime;

// Point j = row * j1 + j2: transforms over j1, factors exp(-2 pi i j2 k1 / n), transforms over j2, and frequency
// k1 + height * k2 out.
template <class T>
class ColumnsThenRows final : public ColumnsByLines<T> {
 public:
  using Complex = std::complex<T>;

  ColumnsThenRows(std::unique_ptr<LineKernel<T>> down, std::unique_ptr<LineKernel<T>> along)
      : down_(std::move(down)),
        along_(std::move(along)),
        height_(down_->length()),
        row_(along_->length()),
        twiddles_((height_ - 1) * row_) {
    const AnyRoots<T> roots(height_ * row_);
    for (std::size_t k = 1; k < height_; ++k) {
      for (std::size_t j = 0; j < row_; ++j) twiddles_.set((k - 1) * row_ + j, roots.at(j * k));
    }
  }

  std::size_t length() const override { return height_ * row_; }
  std::string describe() const override {
    return fmt::format("{} x {}: ({}), ({})", height_, row_, down_->describe(), along_->describe());
  }
  double flops() const override {
    return static_cast<double>(row_) * down_->flops() + static_cast<double>(height_) * along_->flops() +
           6.0 * static_cast<double>((height_ - 1) * row_);
  }
  std::size_t scratch() const override {
    return height_ * stride() + std::max(down_->scratch_columns(), along_->scratch());
  }

  void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const override {
    Complex* rest = scratch + height_ * stride();
    down_->run_columns(direction, in, row_, scratch, stride(), row_, rest);
    for (std::size_t k = 1; k < height_; ++k) {
      T* row = reinterpret_cast<T*>(scratch + k * stride());
      const std::size_t first = 2 * (k - 1) * row_;
      pointwise<T>().multiply(direction == Direction::inverse, row, twiddles_.re.data() + first,
                              twiddles_.im.data() + first, row, row_);
    }
    along_->run_many(direction, scratch, stride(), scratch, stride(), height_, rest);
    transpose(scratch, out);
  }

 private:
  std::size_t stride() const { return padded_points<T>(row_) + 128 / sizeof(Complex); }

  void transpose(const Complex* from, Complex* out) const {
    constexpr std::size_t kRows = 8;
    for (std::size_t k = 0; k < height_; k += kRows) {
      const std::size_t end = std::min(height_, k + kRows);
      for (std::size_t j = 0; j < row_; ++j) {
        for (std::size_t i = k; i < end; ++i) out[j * height_ + i] = from[i * stride() + j];
      }
    }
  }

  std::unique_ptr<LineKernel<T>> down_, along_;
  std::size_t height_, row_;
  DoubledTable<T> twiddles_;
};

}  // namespace

template <class T>
std::unique_ptr<LineKernel<T>> make_columns_then_rows(std::size_t n, std::size_t row, const MakeLine<T>& make_inner) {
  if (row < 2 || n <= row || n % row != 0) {
    throw Error(ErrorKind::invalid_argument, fmt::format("{} points cannot be divided into rows of {}", n, row));
  }
  return std::make_unique<ColumnsThenRows<T>>(make_inner(n / row), make_inner(row));
}

template std::unique_ptr<LineKernel<float>> make_columns_then_rows(std::size_t, std::size_t, const MakeLine<float>&);
template std::unique_ptr<LineKernel<double>> make_columns_then_rows(std::size_t, std::size_t, const MakeLine<double>&);

}  // namespace ridge::fft
