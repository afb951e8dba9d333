// Tests of prototype design, responses and leakage.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <numbers>
#include <numeric>

#include "filterbank/prototype/measure.hpp"
#include "support.hpp"
#include "support/error_of.hpp"
#include "support/worst.hpp"

namespace ridge::filterbank::test {
namespace {

using testing::HasSubstr;

// Level of each channel for a tone at `frequency` channels, in dB relative to the loudest.
std::vector<double> levels_db(const Problem& problem, double frequency) {
  const std::size_t samples = problem.channels * (problem.taps + 3);
  const Spectra out = run(plan_of(problem), tone(problem.channels, frequency, samples));
  const std::complex<float>* last = out.data() + out.size() - problem.channels;
  std::vector<double> levels(problem.channels);
  double loudest = 0;
  for (std::size_t k = 0; k < problem.channels; ++k) loudest = ridge::test::worse(loudest, std::abs(last[k]));
  for (std::size_t k = 0; k < problem.channels; ++k) {
    levels[k] = 20 * std::log10(std::max(double(std::abs(last[k])), 1e-30) / loudest);
  }
  return levels;
}

double worst_beyond(const std::vector<double>& levels, double frequency, double beyond) {
  const auto channels = static_cast<double>(levels.size());
  double worst = -1000;
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const double offset = std::abs(std::remainder(static_cast<double>(k) - frequency, channels));
    if (offset > beyond) worst = ridge::test::worse(worst, levels[k]);
  }
  return worst;
}

TEST(Prototype, WidthIsWhereTheResponseIsHalf) {
  const std::size_t channels = 8, taps = 16;
  for (const double width : {0.5, 1.0, 1.75, 2.0}) {
    const std::vector<double> h = design(channels, taps, {.width = width});
    double response = 0;  // half a width away from the channel's centre
    for (std::size_t n = 0; n < h.size(); ++n) {
      const double from_centre = static_cast<double>(n) - (static_cast<double>(h.size()) - 1) / 2;
      response += h[n] * std::cos(std::numbers::pi * width * from_centre / static_cast<double>(channels));
    }
    EXPECT_NEAR(response, 0.5, 0.01) << width;
  }
}

TEST(Prototype, OffBinTonesLeakLessThanMinus100dB) {
  for (const auto& [channels, taps] : {std::pair<std::size_t, std::size_t>{64, 16}, {256, 16}, {128, 8}}) {
    const Problem problem{.channels = channels, .taps = taps, .polarizations = 1, .samples = Samples::float32};
    for (const double off : {0.1, 0.3, 0.49, -0.37}) {
      const double frequency = 17 + off;
      EXPECT_LT(worst_beyond(levels_db(problem, frequency), frequency, 1.5), -100)
          << channels << "x" << taps << " off " << off;
    }
  }
}

TEST(Prototype, TheOtherOrientationLeaksAndOnlyOffBinTonesShowIt) {
  Problem problem{.channels = 64, .taps = 16, .polarizations = 1, .samples = Samples::float32};
  const auto h = design(64, 16);
  auto naive = branch_weights(h, 64);
  for (std::size_t m = 0; m < 64; ++m) {
    for (std::size_t i = 0; i < 16; ++i) naive[m * 16 + i] = h[i * 64 + m];
  }
  problem.weights = prototype_of(naive, 64);
  EXPECT_LT(worst_beyond(levels_db(problem, 17), 17, 1.5), -100);
  EXPECT_GT(worst_beyond(levels_db(problem, 17.3), 17.3, 1.5), -20);
}

TEST(Prototype, LeakageIsThatOfTheStudy) {
  const std::pair<std::size_t, double> table[] = {{4, -102.9}, {8, -112.7}, {16, -122.6}, {32, -129.9}, {64, -136.8}};
  for (const auto& [taps, wanted] : table) {
    EXPECT_NEAR(quality(design(64, taps), 64).leakage_db, wanted, 1.0) << taps;
  }
  EXPECT_NEAR(quality(design(256, 16), 256).edge_db, -6, 0.2);
}

TEST(Prototype, FloatWeightsDoNotRaiseTheLeakage) {
  auto h = design(64, 16);
  for (double& value : h) value = static_cast<float>(value);
  EXPECT_LT(quality(h, 64).leakage_db, -118);
}

TEST(Prototype, EveryWindowIsSymmetricWithTheSumOne) {
  for (const Window window : {Window::kaiser, Window::hamming, Window::blackman, Window::gaussian}) {
    const auto h = design(12, 5, {.window = window});
    EXPECT_NEAR(std::accumulate(h.begin(), h.end(), 0.0), 1, 1e-12);
    for (std::size_t n = 0; n < h.size(); ++n) EXPECT_NEAR(h[n], h[h.size() - 1 - n], 1e-15);
  }
  // Side lobes in the order that textbooks give.
  const auto leak = [](Window window) { return quality(design(64, 16, {.window = window}), 64).leakage_db; };
  EXPECT_GT(leak(Window::hamming), leak(Window::blackman));
  EXPECT_GT(leak(Window::blackman), leak(Window::kaiser));
  EXPECT_NEAR(leak(Window::hamming), -65, 8);
  EXPECT_LT(leak(Window::gaussian), -80);
}

TEST(Prototype, ResponseAtAPointAgreesWithTheTonesInABank) {
  const Problem problem{.channels = 32, .taps = 8, .polarizations = 1, .samples = Samples::float32};
  const auto h = design(32, 8);
  const auto levels = levels_db(problem, 10.4);
  const double wanted = response_db(h, 32, 0.6) - response_db(h, 32, 0.4);
  EXPECT_NEAR(levels[11], wanted, 0.01);
}

TEST(Prototype, BranchWeightsAreReversedWithinABlock) {
  std::vector<double> h(12);
  std::iota(h.begin(), h.end(), 0.0);
  const auto c = branch_weights(h, 4);
  EXPECT_EQ(c[0 * 3 + 0], 3);   // channel 0, newest block: h[0 * 4 + 3]
  EXPECT_EQ(c[3 * 3 + 0], 0);   // the newest sample of all
  EXPECT_EQ(c[1 * 3 + 2], 10);  // h[2 * 4 + 2]
  EXPECT_EQ(prototype_of(c, 4), h);
}

TEST(Prototype, TheDrawingShowsTheMeasuredFigures) {
  const auto h = design(32, 8);
  const Quality found = quality(h, 32);
  const std::string svg = response_svg(h, 32, found);
  EXPECT_THAT(svg, HasSubstr("data-key=\"leakage_db\""));
  EXPECT_THAT(svg, HasSubstr("32 channels, 8 taps"));
  EXPECT_THAT(svg, testing::EndsWith("</svg>\n"));
}

TEST(Prototype, MistakesAreNamed) {
  const auto says = [](auto&& call) -> std::string { return ridge::test::error_of(call, ErrorKind::invalid_argument); };
  EXPECT_THAT(says([] { design(0, 4); }), HasSubstr("without values"));
  EXPECT_THAT(says([] { design(4, 4, {.width = 0}); }), HasSubstr("width"));
  EXPECT_THAT(says([] { quality(std::vector<double>(5), 4); }), HasSubstr("taps"));
}

}  // namespace
}  // namespace ridge::filterbank::test
