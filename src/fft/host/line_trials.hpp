// Timing and comparison of line kernels during planning.
#pragma once
#include <algorithm>
#include <array>
#include <complex>
#include <limits>
#include <vector>

#include <fmt/format.h>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "device/random.hpp"
#include "fft/host/rounding.hpp"
#include "fft/variant.hpp"
#include "plan/choose.hpp"

namespace ridge::fft {

// Runs one line alone on this thread. All candidates use the same points.
template <class T>
class LineTrials : public planner::Trials<LineKernel<T>> {
 public:
  using Complex = std::complex<T>;
  // `seconds`: for each of the two measurements of a candidate.
  explicit LineTrials(double seconds = 0.02)
      : trial_{.seconds = seconds, .at_least = 3, .at_most = 1000, .round = 2e-5} {}

  // Seconds per transform.
  double seconds(const LineKernel<T>& kernel) override {
    const std::size_t n = kernel.length(), count = std::max<std::size_t>(kTrialPoints / n, 1);
    if (in_.size() == 0) {
      in_ = base::AlignedArray<Complex>(n * count);
      out_ = base::AlignedArray<Complex>(n * count);
      fill_random(std::as_writable_bytes(in_.span()), kNumbers);
      std::fill(out_.begin(), out_.end(), Complex());
    }
    base::AlignedArray<Complex> scratch(kernel.scratch());
    const auto call = [&] {
      kernel.run_many(Direction::forward, in_.data(), n, out_.data(), n, count, scratch.data());
    };
    const auto once = [&] {
      const double start = base::now();
      call();
      return base::now() - start;
    };
    const double cold = once();
    if (cold > kLongRun) return std::min(once(), once()) / static_cast<double>(count);
    const double many = base::best_seconds(call, trial_) / static_cast<double>(count);
    if (count == 1) return many;
    // A line is used alone and in batches, so both are timed: some kernels are fast in batches only.
    const double alone = base::best_seconds(
        [&] {
          for (std::size_t i = 0; i < count; ++i) {
            kernel.run(Direction::forward, in_.data() + i * n, out_.data() + i * n, scratch.data());
          }
        },
        trial_);
    return (many + alone / static_cast<double>(count)) / 2;
  }

  // Compares both directions.
  planner::Comparison compare(const LineKernel<T>& kernel) override {
    const std::size_t n = kernel.length();
    base::AlignedArray<Complex> in(n), out(n), scratch(kernel.scratch() + 1);
    planner::Comparison worst;
    for (const Direction direction : {Direction::forward, Direction::inverse}) {
      fill_random(std::as_writable_bytes(in.span()), kNumbers, 2);
      const std::vector<T>& expected = expected_of(direction, in);
      std::fill(out.begin(), out.end(), Complex(std::numeric_limits<T>::quiet_NaN()));
      kernel.run(direction, in.data(), out.data(), scratch.data());
      const std::span<const T> got(reinterpret_cast<const T*>(out.data()), 2 * n);
      planner::Comparison one =
          planner::compare(got, std::span<const T>(expected), largest_rounding<T>(n), [&](std::size_t number) {
            return fmt::format("{}, point {}", direction == Direction::forward ? "forward" : "inverse", number / 2);
          });
      if (!one.right()) return one;
      if (one.worst >= worst.worst) worst = std::move(one);
    }
    return worst;
  }

 private:
  static constexpr std::size_t kTrialPoints = 4096;  // short lines are timed in batches of this many points
  static constexpr double kLongRun = 0.02;           // a run this long is measured once
  static constexpr Numbers kNumbers = sizeof(T) == sizeof(float) ? Numbers::float32 : Numbers::float64;

  const std::vector<T>& expected_of(Direction direction, const base::AlignedArray<Complex>& in) {
    std::vector<T>& expected = expected_[direction == Direction::forward ? 0 : 1];
    if (!expected.empty()) return expected;
    for (const std::complex<double>& value : wide_line<T>(direction, {in.begin(), in.end()})) {
      expected.push_back(static_cast<T>(value.real()));
      expected.push_back(static_cast<T>(value.imag()));
    }
    return expected;
  }

  const base::Repeat trial_;
  base::AlignedArray<Complex> in_, out_;
  std::array<std::vector<T>, 2> expected_;
};

}  // namespace ridge::fft
