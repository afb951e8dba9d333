// How lines of the host are timed and judged while planning.
#pragma once
#include <complex>
#include <cstddef>
#include <vector>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "fft/kernel.hpp"
#include "plan/choose.hpp"

namespace ridge::fft {

// Relative L2 error that makes an answer of n points wrong: several times the specification's gate, for that is of a
// good variant, and here a bad one is looked for.
template <class T>
double wrong_from(std::size_t n);

// How far `out` is from the transforms of `count` lines of n points. Short ones point by point against a reference with
// more digits; of long ones the energy of each line and a few points by definition.
template <class T>
planner::Comparison compare_lines(const char* what, const std::complex<T>* in, const std::complex<T>* out,
                                  std::size_t n, std::size_t count, bool inverse);

// All candidates share the same points; one thread.
template <class T>
class LineTrials final : public planner::Trials<LineKernel<T>> {
 public:
  using Complex = std::complex<T>;
  // `alone`: a line by itself is timed, too, not only many at a time.
  explicit LineTrials(const base::Repeat& repeat, bool alone = true) : repeat_(repeat), alone_(alone) {}
  double seconds(const LineKernel<T>& kernel) override;
  // Many lines, lines alone and backwards, and columns.
  planner::Comparison compare(const LineKernel<T>& kernel) override;

 private:
  void reserve(std::size_t n);

  base::Repeat repeat_;
  bool alone_;
  std::size_t count_ = 0;  // lines
  base::AlignedArray<Complex> in_, out_;
};

extern template class LineTrials<float>;
extern template class LineTrials<double>;

}  // namespace ridge::fft
