// Common parts of the tests of the public FFT.
#pragma once
#include <gtest/gtest.h>

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <string>

#include <ridge/fft.hpp>

#include "fft/reference.hpp"

namespace ridge::fft {

inline planner::Options quick() { return {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false}; }

// RIDGE_SLOW=1 tests every length named in the specification.
inline std::size_t longest_length() { return std::getenv("RIDGE_SLOW") == nullptr ? 512 : 4096; }

// The specified limit for many short transforms applies to the error over many random points; a single transform of
// three points may exceed it by chance. Each may therefore reach 2.5 times the limit, and all together may not exceed
// it.
template <class T>
class ErrorsOfMany {
 public:
  explicit ErrorsOfMany(std::size_t n) : n_(n), gate_(reference::error_gate<T>(n)) {}
  void add(double error, const std::string& what) {
    EXPECT_LE(error, 2.5 * gate_) << n_ << " points, " << what;
    squares_ += error * error;
    ++count_;
  }
  ~ErrorsOfMany() {
    if (count_ * n_ < 64) return;
    EXPECT_LE(std::sqrt(squares_ / static_cast<double>(count_)), gate_) << count_ << " transforms of " << n_;
  }

 private:
  std::size_t n_, count_ = 0;
  double gate_, squares_ = 0;
};

}  // namespace ridge::fft
