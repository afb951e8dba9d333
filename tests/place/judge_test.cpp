// Tests the comparison of the results of the original and the placed program.
#include "place/judge/judge.hpp"

#include <cmath>
#include <cstring>
#include <limits>

#include <gtest/gtest.h>

namespace ridge::place::judge {
namespace {

template <class T>
std::vector<Array> dump_of(const std::vector<T>& values) {
  Array made;
  made.name = "a";
  made.type = sizeof(T) == 4 ? "float" : "double";
  made.bytes.resize(values.size() * sizeof(T));
  std::memcpy(made.bytes.data(), values.data(), made.bytes.size());
  return {made};
}

template <class T>
double apart(const std::vector<T>& a, const std::vector<T>& b, bool exact = false) {
  std::string where;
  return difference(dump_of(a), dump_of(b), exact, where);
}

// Relative to the largest value: sums in another order 1e-4, other libraries' functions 2e-5, else equal to the bit.
TEST(Judge, TenTimesTheAllowedDifferenceIsDetected) {
  Report sums, functions;
  sums.reassociates = true;
  functions.libm = true;
  EXPECT_EQ(allowed(Report{}), 0);
  const auto spoilt = [](double by) { return apart<double>({4, 1, -2}, {4, 1 + 4 * by, -2}); };
  EXPECT_GT(spoilt(1e-3), allowed(sums));
  EXPECT_LE(spoilt(0.5e-4), allowed(sums));
  EXPECT_GT(spoilt(2e-4), allowed(functions));
  EXPECT_LE(spoilt(1e-5), allowed(functions));
  EXPECT_EQ(apart<float>({1, 2}, {1, 2}), 0);
  EXPECT_GT(apart<float>({1, 2}, {1, std::nextafter(2.0F, 3.0F)}, true), 1);
}

TEST(Judge, NanAndInfinityEqualOnlyThemselves) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  for (const float strange : {nan, infinite, -infinite}) {
    EXPECT_FALSE(std::isfinite(apart<float>({1, strange}, {1, 2}))) << strange;
    EXPECT_FALSE(std::isfinite(apart<float>({1, 2}, {1, strange}))) << strange;
    EXPECT_EQ(apart<float>({1, strange}, {1, strange}), 0) << strange;
  }
  EXPECT_FALSE(std::isfinite(apart<float>({1, infinite}, {1, -infinite})));
  EXPECT_FALSE(std::isfinite(apart<float>({1, 2}, {1})));
}

}  // namespace
}  // namespace ridge::place::judge
