// The largest error, with NaN largest.
#include "support/worst.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <limits>
#include <vector>

namespace ridge::test {
namespace {

constexpr double kNone = std::numeric_limits<double>::quiet_NaN(), kInfinite = std::numeric_limits<double>::infinity();

TEST(Worst, IsTheLargest) {
  Worst worst;
  EXPECT_EQ(worst.value(), 0);
  for (const double error : {0.5, 2.0, 1.0}) worst.add(error);
  EXPECT_EQ(worst.value(), 2);
  worst.add(kInfinite);
  worst.add(3);
  EXPECT_EQ(worst.value(), kInfinite);
}

TEST(Worst, NaNStaysTheLargest) {
  for (const double after : {0.0, 1.0, kInfinite, -1.0}) {
    Worst worst;
    worst.add(1);
    worst.add(kNone);
    worst.add(after);
    EXPECT_TRUE(std::isnan(worst.value())) << after;
    EXPECT_FALSE(worst.value() <= 1e300) << after;
  }
}

TEST(Worst, SequencesDiffer) {
  using Points = std::vector<std::complex<float>>;
  const Points a{{1, 2}, {3, 4}};
  EXPECT_EQ(largest_difference(a, a), 0);
  EXPECT_EQ(largest_difference(a, Points{{1, 2}, {3, 6}}), 2);
  EXPECT_EQ(largest_difference(a, Points{{1, 2}}), kInfinite);
  EXPECT_TRUE(std::isnan(largest_difference(Points{{std::nanf(""), 2}, {3, 4}}, a)));
}

}  // namespace
}  // namespace ridge::test
