// Tests leakage and reconstruction, measured through the bank.
#include <gtest/gtest.h>

#include "filterbank/prototype/measure.hpp"
#include "support.hpp"
#include "support/worst.hpp"

namespace ridge::filterbank::test {
namespace {

TEST(Measure, TheDefaultPrototypeLeaksLessThanMinus100dB) {
  for (const auto& [channels, taps] :
       {std::pair<std::size_t, std::size_t>{1024, 4}, {512, 8}, {256, 16}, {64, 16}, {60, 16}, {64, 64}}) {
    const auto h = design(channels, taps);
    for (double off = -0.5; off <= 0.5; off += 0.125) {
      EXPECT_LT(leakage_of_tone_db(host(), h, channels, off), -100) << channels << "x" << taps << " off " << off;
    }
  }
}

TEST(Measure, LeakageIsThatOfTheResponse) {
  // A short Hamming window leaks far above the rounding error of floats.
  const auto h = design(32, 4, {.window = Window::hamming});
  double worst = -300;
  for (double off = -0.5; off <= 0.5; off += 0.02)
    worst = ridge::test::worse(worst, leakage_of_tone_db(host(), h, 32, off));
  // A tone half a channel off is 6 dB lower in its loudest channel.
  EXPECT_GT(worst, quality(h, 32).leakage_db - 1.5);
  EXPECT_LT(worst, quality(h, 32).leakage_db + 6.1);
}

TEST(Measure, EveryRatioFrom8Over7UpReconstructsToMinus90dB) {
  std::size_t ratios = 0;
  for (const std::size_t channels : {64ul, 56ul, 60ul}) {
    const auto h = design(channels, 16);
    for (const Ratio& ratio : oversampling_ratios(channels)) {
      EXPECT_LT(reconstruction_db(host(), h, channels, ratio), -90)
          << channels << " channels, " << ratio.numerator << "/" << ratio.denominator;
      ++ratios;
    }
  }
  EXPECT_GT(ratios, 60u);
}

TEST(Measure, CriticalSamplingStopsFarAbove) {
  const auto h = design(32, 16);
  double before = 0;
  for (const double length : {1.0, 2.0, 6.0}) {
    const double left = reconstruction_db(host(), h, 32, {1, 1}, length);
    EXPECT_LT(left, before + 1) << "longer is not worse";
    EXPECT_GT(left, -45);
    before = left;
  }
  EXPECT_LT(before, -20);
}

}  // namespace
}  // namespace ridge::filterbank::test
