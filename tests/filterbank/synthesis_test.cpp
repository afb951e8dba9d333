// Tests of the synthesis filter bank.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.hpp"

namespace ridge::filterbank::test {
namespace {

// Round-trip error of noise through analysis and synthesis, in dB.
double residual_db(const Problem& problem, double length = 1.5) {
  const Plan plan = plan_of(problem);
  Synthesis synthesis(problem, length);
  const std::size_t samples = 6 * problem.channels * problem.taps / plan.hop() * plan.hop();
  const Bytes bytes = noise(problem, samples);
  const Spectra spectra = run(plan, bytes);
  Spectra out(spectra.size() / plan.spectrum_size() * synthesis.step_size());
  // In two pushes, which tests that the state is carried over.
  const std::size_t cut = spectra.size() / plan.spectrum_size() / 3;
  std::size_t steps = synthesis.push(std::span(spectra).first(cut * plan.spectrum_size()), out);
  steps += synthesis.push(std::span(spectra).subspan(cut * plan.spectrum_size()),
                          std::span(out).subspan(steps * synthesis.step_size()));
  EXPECT_EQ(steps * synthesis.step_size(), out.size());
  double difference = 0, size = 0;
  for (std::size_t s = 0; s < problem.stations; ++s) {
    for (std::size_t p = 0; p < problem.polarizations; ++p) {
      const auto x = station_samples(problem, bytes, s, p);
      // Excludes the transients at both ends of the stream.
      const std::size_t margin = 2 * problem.channels * problem.taps;
      for (std::size_t n = margin; n + margin < steps * plan.hop(); ++n) {
        const std::size_t at = n + synthesis.delay();
        if (at >= steps * plan.hop()) break;
        const std::complex<double> y =
            out[((at / plan.hop() * problem.stations + s) * plan.hop() + at % plan.hop()) * problem.polarizations + p];
        difference += std::norm(y - x[n]);
        size += std::norm(x[n]);
      }
    }
  }
  EXPECT_GT(size, 0);
  return 10 * std::log10(difference / size);
}

TEST(Synthesis, ReconstructsToMinus90dBFrom8Over7Up) {
  for (const Ratio ratio : {Ratio{8, 7}, {32, 27}, {4, 3}, {2, 1}, {4, 1}}) {
    const std::size_t channels = ratio.denominator == 7 ? 56 : ratio.denominator == 27 ? 64 : 48;
    const Problem problem{
        .channels = channels, .taps = 16, .polarizations = 1, .samples = Samples::float32, .oversampling = ratio};
    EXPECT_LT(residual_db(problem), -90) << ratio.numerator << "/" << ratio.denominator;
  }
}

TEST(Synthesis, StationsPolarizationsAndTheCentredOrder) {
  const Problem problem{.channels = 32,
                        .taps = 8,
                        .stations = 2,
                        .samples = Samples::int8,
                        .oversampling = {4, 3},
                        .input_block = 8,
                        .centred = true};
  EXPECT_LT(residual_db(problem, 2), -85);
}

// Critical sampling aliases at the channel edges, which no filter of practical length undoes.
TEST(Synthesis, CriticalSamplingStopsFarAbove) {
  const Problem problem{.channels = 32, .taps = 16, .polarizations = 1, .samples = Samples::float32};
  const double residual = residual_db(problem, 2);
  EXPECT_GT(residual, -45);
  EXPECT_LT(residual, -15);
}

TEST(Synthesis, TheDualOfASingleTapIsItsInverse) {
  // One tap of ones at critical sampling: y = x without any filter.
  const std::vector<double> ones(8, 1.0);
  const auto f = dual(ones, 8, 8, 1);
  for (const double value : f) EXPECT_NEAR(value, 1.0 / 8, 1e-9);
}

TEST(Synthesis, MistakesAreRefused) {
  EXPECT_THROW(dual(design(8, 4), 8, 9), Error);
  EXPECT_THROW(dual(design(8, 4), 8, 7, 0.5), Error);
  EXPECT_THROW(Synthesis({.channels = 4, .taps = 2, .bandpass = {1, 1, 1, 1}}), Error);
  Synthesis synthesis({.channels = 4, .taps = 2, .polarizations = 1});
  Spectra in(4), out(3);
  EXPECT_THROW(synthesis.push(in, out), Error);
}

}  // namespace
}  // namespace ridge::filterbank::test
