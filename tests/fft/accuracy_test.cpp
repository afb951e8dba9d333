// The accuracy report: limits are detected, rows follow the lengths, peers are compared.
#include "fft/accuracy.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "fft/reference.hpp"
#include "support/worst.hpp"

namespace ridge::fft {
namespace {

template <class T>
class Accuracy : public testing::Test {};
using Types = testing::Types<float, double>;
TYPED_TEST_SUITE(Accuracy, Types);

TYPED_TEST(Accuracy, EveryVariantOfSomeLengthsKeepsTheGate) {
  const std::vector<std::size_t> lengths{1, 2, 3, 16, 60, 1024};
  const auto rows = measure_errors<TypeParam>({.lengths = lengths, .variants = true});
  std::set<std::size_t> chosen;
  for (const ErrorRow& row : rows) {
    EXPECT_EQ(row.broken, "") << row.length << ' ' << row.variant;
    EXPECT_LE(test::worse(row.forward, row.inverse), row.gate) << row.length << ' ' << row.variant;
    EXPECT_EQ(row.forward > 0, row.length > 1) << row.length << ' ' << row.variant;
    if (row.chosen) chosen.insert(row.length);
  }
  EXPECT_EQ(chosen, std::set<std::size_t>(lengths.begin(), lengths.end()));
  EXPECT_TRUE(
      std::any_of(rows.begin(), rows.end(), [](const ErrorRow& row) { return row.variant == "classic/split_radix"; }));
}

// The limit is the specified one; ten times the limit is detected in either direction and against a peer.
TYPED_TEST(Accuracy, ErrorsOfTenTimesTheGateAreBroken) {
  for (ErrorRow row : measure_errors<TypeParam>({.lengths = {2, 60, 1024}})) {
    const double gate = 0.6 * std::numeric_limits<TypeParam>::epsilon() *
                        std::sqrt(std::max(1.0, std::log2(static_cast<double>(row.length))));
    EXPECT_DOUBLE_EQ(row.gate, gate) << row.length;
    const ErrorRow good = row;
    row.forward = 10 * gate;
    EXPECT_NE(broken_gate<TypeParam>(row), "") << row.length;
    row = good;
    row.inverse = 10 * gate;
    EXPECT_NE(broken_gate<TypeParam>(row), "") << row.length;
    row.inverse = std::numeric_limits<double>::quiet_NaN();
    EXPECT_NE(broken_gate<TypeParam>(row), "") << row.length;
    row = good;
    row.forward = 0.5 * gate;
    row.peer = 0.5 * gate / (10 * 1.5);
    EXPECT_NE(broken_gate<TypeParam>(row), "") << row.length;
    row.chosen = false;  // other variants need not match the peer
    EXPECT_EQ(broken_gate<TypeParam>(row), "") << row.length;
  }
}

TYPED_TEST(Accuracy, APeerThatIsMuchBetterBreaksTheGate) {
  // This peer rounds the exact result: no transform is as accurate.
  const PeerTransform<TypeParam> exact = [](std::size_t n, const std::complex<TypeParam>* in,
                                            std::complex<TypeParam>* out) {
    const auto truth = reference::dft(std::vector<std::complex<TypeParam>>(in, in + n), false);
    for (std::size_t i = 0; i < n; ++i) {
      out[i] = {static_cast<TypeParam>(static_cast<double>(truth[i].re)),
                static_cast<TypeParam>(static_cast<double>(truth[i].im))};
    }
    return true;
  };
  const auto rows = measure_errors<TypeParam>({.lengths = {4096}, .peer = exact});
  ASSERT_EQ(rows.size(), 1u);
  EXPECT_GT(rows[0].peer, 0);
  EXPECT_NE(rows[0].broken, "");
  // A peer that rejects the length is not compared.
  const auto alone = measure_errors<TypeParam>(
      {.lengths = {16},
       .peer = [](std::size_t, const std::complex<TypeParam>*, std::complex<TypeParam>*) { return false; }});
  EXPECT_EQ(alone[0].peer, 0);
  EXPECT_EQ(alone[0].broken, "");
}

TEST(AccuracyLengths, ContainEveryLengthUpTo4096) {
  const auto thorough = accuracy_lengths(true);
  for (std::size_t n = 1; n <= 4096; ++n) ASSERT_EQ(thorough[n - 1], n);
  EXPECT_NE(std::find(thorough.begin(), thorough.end(), 1048576), thorough.end());
}

}  // namespace
}  // namespace ridge::fft
