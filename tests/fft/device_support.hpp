// Common parts of the tests of the FFT on devices.
#pragma once
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <memory>
#include <string>
#include <vector>

#include <ridge/fft.hpp>

#include "nd_support.hpp"
#include "support/devices.hpp"
#include "support/worst.hpp"

namespace ridge::fft::device_tests {

using test::accelerators;

// Each kernel takes up to a second to compile on PoCL, so only the planner's first choice is tested.
class OnDevices : public test::NeedsAccelerator<> {};

inline planner::Options only(const std::string& variant) {
  return {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false, .variant = variant};
}

template <class T>
std::vector<std::complex<T>> run(const Plan<T>& plan, const std::vector<std::complex<T>>& in, bool inverse,
                                 std::size_t out_size) {
  std::vector<std::complex<T>> out(out_size);
  const std::span<const std::complex<T>> from(in);
  inverse ? plan.inverse(from, std::span<std::complex<T>>(out)) : plan.forward(from, std::span<std::complex<T>>(out));
  return out;
}

// The specified limit for n points: 0.6 eps sqrt(log2 n), doubled if the transform is a convolution (Rader, Bluestein).
template <template <class> class AnyPlan, class T>
double gate_of(const AnyPlan<T>& plan, std::size_t n) {
  bool convolution = false;
  for (const planner::Decision& decision : plan.decisions()) {
    const std::string name = decision.trials.at(decision.winner).name;
    convolution |= name.find("rader") != std::string::npos || name.find("bluestein") != std::string::npos;
  }
  return (convolution ? 2 : 1) * reference::error_gate<T>(n);
}

template <class Value>
std::vector<Value> part(const std::vector<Value>& values, std::size_t first, std::size_t count) {
  const auto begin = values.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

// The largest relative error of any line of a packed batch, relative to its limit. The limit applies to the error over
// many random points: a single short line may reach 2.5 times it, all lines together may not.
class LineErrors {
 public:
  LineErrors(std::size_t n, double gate) : n_(n), gate_(gate) {}
  void add(double error) {
    worst_.add(error / gate_);
    squares_ += error * error;
    ++count_;
  }
  double value() const {
    constexpr std::size_t kFew = 16;
    if (n_ >= kFew) return worst_.value();
    const double together = std::sqrt(squares_ / static_cast<double>(std::max<std::size_t>(count_, 1))) / gate_;
    return test::worse(worst_.value() / 2.5, together);
  }

 private:
  std::size_t n_, count_ = 0;
  double gate_, squares_ = 0;
  test::Worst worst_;
};

// The largest error of a packed batch of lines of n points, relative to the gate.
template <class Value>
double error_of_lines(const std::vector<Value>& in, const std::vector<Value>& out, std::size_t n, double gate,
                      bool inverse) {
  LineErrors errors(n, gate);
  for (std::size_t first = 0; first < in.size(); first += n) {
    const auto expected = reference::dft(part(in, first, n), inverse);
    errors.add(reference::relative_error(out.data() + first, 1, expected));
  }
  return errors.value();
}

template <class T>
double gated_error(const Device& device, std::size_t n, std::size_t batch, const std::string& variant, bool inverse) {
  const Plan<T> plan(device, {.shape = {n}, .batch = batch}, only(variant));
  const auto in = reference::random_points<T>(n * batch, static_cast<unsigned>(n));
  return error_of_lines(in, run(plan, in, inverse, n * batch), n, gate_of(plan, n), inverse);
}

}  // namespace ridge::fft::device_tests
