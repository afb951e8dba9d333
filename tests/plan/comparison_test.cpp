// Comparison of an answer with the reference.
#include "plan/comparison.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

namespace {

using ridge::planner::compare;
using ridge::planner::compare_bytes;
using ridge::planner::Comparison;
using testing::HasSubstr;

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

Comparison of(const std::vector<double>& got, const std::vector<double>& expected, double allowed = 1e-3) {
  return compare(std::span(got), std::span(expected), allowed);
}

TEST(Comparison, MeasuresInUnitsOfTheReferencesSize) {
  const Comparison comparison = of({300, 401}, {300, 400});
  EXPECT_NEAR(comparison.worst, 1 / std::sqrt((9e4 + 16e4) / 2), 1e-12);
  EXPECT_FALSE(comparison.right());
  EXPECT_EQ(comparison.where, "element 1");
  EXPECT_EQ(comparison.text(), "worst error 2.8e-03 at element 1, allowed 1.0e-03");
  EXPECT_TRUE(of({300, 400}, {300, 400}).right());
  EXPECT_TRUE(of({300, 400.1}, {300, 400}).right());
}

TEST(Comparison, ZerosAreComparedAbsolutely) {
  EXPECT_TRUE(of({0, 0}, {0, 0}).right());
  EXPECT_FALSE(of({0, 1}, {0, 0}).right());
}

TEST(Comparison, NaNIsNeverRight) {
  EXPECT_FALSE(of({kNaN, 1}, {1, 1}).right());
  EXPECT_FALSE(of({1, kNaN, 1}, {1, 1, 1}).right());  // not forgotten at the next finite value
  EXPECT_FALSE(of({1, 1}, {kNaN, 1}).right());
  EXPECT_FALSE(of({kNaN, 1}, {kNaN, 1}).right());
  EXPECT_FALSE(of({std::numeric_limits<double>::infinity(), 1}, {1, 1}).right());
  EXPECT_THAT(of({1, kNaN, 7}, {1, 1, 1}).text(), HasSubstr("nan at element 1"));
}

TEST(Comparison, AnotherLengthIsWrong) {
  EXPECT_FALSE(of({1}, {1, 1}).right());
  EXPECT_FALSE(of({}, {1}).right());
  EXPECT_TRUE(of({}, {}).right());
}

TEST(Comparison, FloatsAreComparedInDouble) {
  const std::vector<float> got{1.0F + 0x1p-23F}, expected{1.0F};
  EXPECT_DOUBLE_EQ(compare(std::span(got), std::span(expected), 1).worst, 0x1p-23);
}

TEST(Comparison, BytesCountAndNameTheirPlace) {
  const std::vector<std::byte> got{std::byte{1}, std::byte{2}, std::byte{3}}, expected{std::byte{1}, {}, {}};
  const Comparison comparison = compare_bytes(got, expected, [](std::size_t i) { return "row " + std::to_string(i); });
  EXPECT_EQ(comparison.worst, 2);
  EXPECT_EQ(comparison.where, "row 1");
  EXPECT_FALSE(comparison.right());
  EXPECT_TRUE(compare_bytes(got, got).right());
  EXPECT_FALSE(compare_bytes(got, std::span(got).first(2)).right());
}

}  // namespace
