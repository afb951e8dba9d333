// Loads the drop-in library and the real FFTW into one process.
#pragma once
#include <dlfcn.h>

#include <type_traits>

#include <gtest/gtest.h>

#include "fftw/library.hpp"

namespace ridge::fftw_test {

constexpr unsigned kEstimate = 1U << 6, kPreserve = 1U << 4, kWisdomOnly = 1U << 21, kMeasure = 0, kPatient = 1U << 5;

template <class R>
class DropIn : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(ours.here()) << dlerror();
    if (!real.here()) GTEST_SKIP() << "FFTW itself is not installed";
  }
  Library<R> ours{RIDGE_FFTW_LIBRARY};
  Library<R> real{std::is_same_v<R, float> ? "libfftw3f.so.3" : "libfftw3.so.3"};
};

using Precisions = testing::Types<float, double>;

}  // namespace ridge::fftw_test
