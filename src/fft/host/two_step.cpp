// Runs the columns and the rows of one long line on all threads.
#include "fft/host/two_step.hpp"

#include <algorithm>
#include <cmath>

#include "fft/host/two_step_kernels.hpp"
#include "fft/roots.hpp"

namespace ridge::fft {
namespace {

constexpr std::size_t kStrip = kStripWidth;
constexpr std::size_t kShortest = 64;  // a shorter step makes the other one too long for the cache
constexpr std::size_t kPad = 16;

template <class T>
const T* real(const std::complex<T>* p) {
  return reinterpret_cast<const T*>(p);
}
template <class T>
T* real(std::complex<T>* p) {
  return reinterpret_cast<T*>(p);
}

}  // namespace

template <class T>
TwoStep<T>::TwoStep(Line down, Line along)
    : down_(std::move(down)),
      along_(std::move(along)),
      rows_(down_->length()),
      columns_(along_->length()),
      row_(columns_ + kPad),
      coarse_((columns_ + kStrip - 1) / kStrip * rows_),
      fine_(rows_ * kStrip) {
  const AnyRoots<T> roots(points());
  for (std::size_t r = 0; r < rows_; ++r) {
    for (std::size_t c = 0; c < kStrip; ++c) fine_[r * kStrip + c] = roots.at(r * c % points());
  }
  for (std::size_t first = 0; first < columns_; first += kStrip) {
    Complex* const strip = coarse_.data() + first / kStrip * rows_;
    for (std::size_t r = 0; r < rows_; ++r) strip[r] = roots.at(r * first);
  }
}

template <class T>
typename TwoStep<T>::Factors TwoStep<T>::factors(std::size_t n) {
  for (auto r = static_cast<std::size_t>(std::sqrt(static_cast<double>(n))); r >= kShortest; --r) {
    if (n % r == 0) return {r, n / r};
  }
  return {0, 0};
}

template <class T>
std::size_t TwoStep<T>::own_scratch() const {
  return kStrip * (std::max(rows_, columns_) + kPad) + std::max(down_->scratch_columns(), along_->scratch());
}

template <class T>
double TwoStep<T>::flops_done() const {
  return static_cast<double>(columns_) * down_->flops() + static_cast<double>(rows_) * along_->flops() +
         12.0 * static_cast<double>(points());
}

template <class T>
std::size_t TwoStep<T>::first_parts() const {
  return (columns_ + kStrip - 1) / kStrip;
}

template <class T>
std::size_t TwoStep<T>::second_parts() const {
  return (rows_ + kStrip - 1) / kStrip;
}

template <class T>
void TwoStep<T>::first(Direction direction, std::size_t part, const Complex* in, Complex* work, bool past,
                       Complex* scratch) const {
  const std::size_t at = part * kStrip, width = std::min(kStrip, columns_ - at);
  Complex* const tile = scratch;
  down_->run_columns(direction, in + at, columns_, tile, kStrip, width,
                     scratch + kStrip * (std::max(rows_, columns_) + kPad));
  two_step_kernels<T>().twiddle(direction == Direction::inverse, real(tile), rows_, width,
                                real(coarse_.data() + part * rows_), real(fine_.data()), real(work + at), row_, past);
}

template <class T>
void TwoStep<T>::second(Direction direction, std::size_t part, Complex* work, Complex* out, bool past,
                        Complex* scratch) const {
  const std::size_t at = part * kStrip, width = std::min(kStrip, rows_ - at);
  // Rows of the tile start in different L1 sets, because they are read column by column.
  const std::size_t tile_row = columns_ + kPad;
  Complex* const tile = scratch;
  along_->run_many(direction, work + at * row_, row_, tile, tile_row, width,
                   scratch + kStrip * (std::max(rows_, columns_) + kPad));
  two_step_kernels<T>().transpose(real(tile), tile_row, columns_, width, real(out + at), rows_, past);
}

template class TwoStep<float>;
template class TwoStep<double>;

}  // namespace ridge::fft
