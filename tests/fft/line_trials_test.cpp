// What verification sees of a line: every way it is run, short and long, and mistakes in each of them.
#include "fft/line_trials.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "fft/plain_kernel.hpp"
#include "fft/power2/power2.hpp"

namespace ridge::fft {
namespace {

enum class Mistake { none, many, inverse, columns, nan, unstored };

// Right but for one point in one of its ways.
template <class T>
class Mistaken final : public LineKernel<T> {
 public:
  using Complex = std::complex<T>;
  Mistaken(std::shared_ptr<const LineKernel<T>> right, Mistake mistake) : right_(std::move(right)), mistake_(mistake) {}
  std::size_t length() const override { return right_->length(); }
  std::string describe() const override { return "mistaken"; }
  double flops() const override { return right_->flops(); }
  std::size_t scratch() const override { return right_->scratch(); }
  std::size_t scratch_columns() const override { return right_->scratch_columns(); }
  void run(Direction direction, const Complex* in, Complex* out, Complex* scratch) const override {
    right_->run(direction, in, out, scratch);
    if (mistake_ == Mistake::inverse && direction == Direction::inverse) spoil(out, 1);
  }
  void run_many(Direction direction, const Complex* in, std::size_t in_distance, Complex* out, std::size_t out_distance,
                std::size_t count, Complex* scratch) const override {
    const Complex before = out[0];
    right_->run_many(direction, in, in_distance, out, out_distance, count, scratch);
    Complex* last = out + (count - 1) * out_distance;
    if (mistake_ == Mistake::many) spoil(last, 1);
    if (mistake_ == Mistake::nan) last[length() - 1] = std::numeric_limits<T>::quiet_NaN();
    if (mistake_ == Mistake::unstored) out[0] = before;
  }
  void run_columns(Direction direction, const Complex* in, std::size_t in_stride, Complex* out, std::size_t out_stride,
                   std::size_t columns, Complex* scratch) const override {
    right_->run_columns(direction, in, in_stride, out, out_stride, columns, scratch);
    if (mistake_ == Mistake::columns) spoil(out, out_stride);
  }

 private:
  // Half of the line, a thousandth off: of a long line only a few points are looked at, but its energy counts whole.
  void spoil(Complex* out, std::size_t stride) const {
    for (std::size_t i = 0; i < (length() + 1) / 2; ++i) out[i * stride] *= T(1.001);
  }
  std::shared_ptr<const LineKernel<T>> right_;
  Mistake mistake_;
};

template <class T>
std::shared_ptr<const LineKernel<T>> right_kernel(std::size_t n) {
  if (n == 1 << 20) return default_power2<T>(n);
  return std::make_shared<reference::Plain<T>>(n);
}

template <class T>
planner::Comparison judged(std::size_t n, Mistake mistake) {
  LineTrials<T> trials({.seconds = 1e-3});
  return trials.compare(Mistaken<T>(right_kernel<T>(n), mistake));
}

TEST(LineTrials, RightLinesPass) {
  for (const std::size_t n : {1u, 2u, 3u, 60u, 1009u, 1u << 20}) {
    EXPECT_TRUE(judged<float>(n, Mistake::none).right()) << n << ": " << judged<float>(n, Mistake::none).in_words();
    if (n < 1 << 20) {
      EXPECT_TRUE(judged<double>(n, Mistake::none).right()) << n << ": " << judged<double>(n, Mistake::none).in_words();
    }
  }
}

TEST(LineTrials, MistakesInEveryWayAreSeen) {
  for (const std::size_t n : {2u, 60u, 1u << 20}) {
    for (const auto& [mistake, where] : std::vector<std::pair<Mistake, std::string>>{{Mistake::many, "forward"},
                                                                                     {Mistake::inverse, "inverse"},
                                                                                     {Mistake::columns, "columns"},
                                                                                     {Mistake::nan, "forward"},
                                                                                     {Mistake::unstored, "forward"}}) {
      const planner::Comparison comparison = judged<float>(n, mistake);
      EXPECT_FALSE(comparison.right()) << n << ", " << where;
      EXPECT_THAT(comparison.where, testing::StartsWith(where)) << n;
    }
  }
  EXPECT_FALSE(judged<double>(60, Mistake::many).right());
}

TEST(LineTrials, TimesAreThoseOfOneLine) {
  LineTrials<float> trials({.seconds = 1e-3, .at_least = 2, .at_most = 10});
  EXPECT_GT(trials.seconds(*right_kernel<float>(64)), 0);
}

}  // namespace
}  // namespace ridge::fft
