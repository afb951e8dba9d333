// Tests the correlator against its definition in double.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.hpp"
#include "support/worst.hpp"

namespace ridge::filterbank::test {
namespace {

using testing::HasSubstr;

Spectra random_spectra(const Problem& problem, std::size_t times, unsigned seed = 5) {
  Spectra spectra(times * problem.polarizations * problem.stations * problem.channels);
  std::mt19937 random(seed);
  std::normal_distribution<float> values;
  for (auto& value : spectra) value = {values(random), values(random)};
  return spectra;
}

std::vector<std::complex<double>> correlated(const Problem& problem, const Correlation& correlation,
                                             const Spectra& spectra) {
  const Geometry g = resolve(problem);
  const std::size_t integrations = spectra.size() / g.spectrum_size() / correlation.times;
  std::vector<std::complex<double>> out;
  for (std::size_t n = 0; n < integrations; ++n) {
    for (std::size_t j = 0; j < g.stations; ++j) {
      for (std::size_t i = 0; i <= j; ++i) {
        for (std::size_t k = 0; k < g.channels; k += correlation.channels) {
          for (std::size_t p = 0; p < g.polarizations; ++p) {
            for (std::size_t q = 0; q < g.polarizations; ++q) {
              std::complex<double> sum = 0;
              for (std::size_t t = n * correlation.times; t < (n + 1) * correlation.times; ++t) {
                for (std::size_t m = k; m < k + correlation.channels; ++m) {
                  sum += std::complex<double>(spectra[g.place(0, t, p, i, m)]) *
                         std::conj(std::complex<double>(spectra[g.place(0, t, q, j, m)]));
                }
              }
              out.push_back(sum);
            }
          }
        }
      }
    }
  }
  return out;
}

Spectra run_correlator(const Problem& problem, const Correlation& correlation, const Spectra& spectra,
                       std::size_t piece) {
  Correlator correlator(problem, correlation);
  const std::size_t each = problem.polarizations * problem.stations * problem.channels;
  Spectra out;
  std::span<const std::complex<float>> left(spectra);
  while (!left.empty()) {
    const auto now = left.first(std::min(piece * each, left.size()));
    const std::size_t before = out.size();
    out.resize(before + correlator.due(now.size() / each) * correlator.size());
    correlator.push(now, std::span(out).subspan(before));
    left = left.subspan(now.size());
  }
  return out;
}

TEST(Correlator, EveryPairOfStationsAndPolarizations) {
  struct Case {
    Problem problem;
    Correlation correlation;
  };
  const std::vector<Case> cases{
      {{.channels = 16, .stations = 2}, {.times = 10}},
      {{.channels = 40, .stations = 5, .threads = 2}, {.times = 70}},
      {{.channels = 7, .stations = 1}, {.times = 3}},
      {{.channels = 33, .stations = 7, .polarizations = 1}, {.times = 100}},
      {{.channels = 24, .stations = 3}, {.times = 20, .channels = 4}},
      {{.channels = 20, .stations = 3, .order = Order::channel, .output_times = 5}, {.times = 15}},
  };
  for (std::size_t i = 0; i < cases.size(); ++i) {
    const auto& [problem, correlation] = cases[i];
    const Spectra spectra = random_spectra(problem, 2 * correlation.times);
    const auto wanted = correlated(problem, correlation, spectra);
    const Spectra got = run_correlator(problem, correlation, spectra, 2 * correlation.times);
    ASSERT_EQ(got.size(), wanted.size());
    double worst = 0;
    for (std::size_t j = 0; j < got.size(); ++j) {
      worst = ridge::test::worse(worst, std::abs(std::complex<double>(got[j]) - wanted[j]));
    }
    EXPECT_LT(worst, 1e-6 * static_cast<double>(2 * correlation.times * correlation.channels)) << i;
  }
}

TEST(Correlator, PiecesAndThreadsDoNotChangeTheResult) {
  Problem problem{.channels = 48, .stations = 3, .threads = 1};
  const Correlation correlation{.times = 150};
  const Spectra spectra = random_spectra(problem, 470);
  const Spectra whole = run_correlator(problem, correlation, spectra, 470);
  EXPECT_EQ(whole.size(), 3u * 6 * 48 * 4);
  for (const std::size_t piece : {1ul, 7ul, 64ul, 151ul}) {
    EXPECT_TRUE(same_bits(whole, run_correlator(problem, correlation, spectra, piece))) << piece;
  }
  problem.threads = 3;
  EXPECT_TRUE(same_bits(whole, run_correlator(problem, correlation, spectra, 470)));
}

TEST(Correlator, LongIntegrationsDoNotRoundAway) {
  const Problem problem{.channels = 16, .stations = 1, .polarizations = 1};
  const std::size_t times = 200000;
  const Spectra spectra(16 * times, {0.1f, 0.0f});
  const Spectra sums = run_correlator(problem, {.times = times}, spectra, times);
  const double wanted = static_cast<double>(times) * double{0.1f} * double{0.1f};
  EXPECT_NEAR(sums[0].real() / wanted, 1, 1e-6);
  EXPECT_EQ(sums[0].imag(), 0);
}

TEST(Correlator, ADelayedStationIsInPhaseBehindTheBank) {
  const Problem problem{.channels = 8,
                        .taps = 4,
                        .stations = 2,
                        .polarizations = 1,
                        .samples = Samples::float32,
                        .input_block = 8,
                        .delays = {.wanted = true, .frequency = 3.7, .longest = 8}};
  // Station 1 is station 0 three samples later, with the phase of a mixer at 3.7 cycles per sample.
  std::mt19937 random(1);
  std::normal_distribution<float> values;
  std::vector<std::complex<float>> noise(8 * 300);
  for (auto& value : noise) value = {values(random), values(random)};
  Spectra in(2 * noise.size());
  for (std::size_t n = 0; n < noise.size(); ++n) {
    in[n / 8 * 16 + n % 8] = noise[n];
    in[n / 8 * 16 + 8 + n % 8] =
        n < 3 ? 0.0f : noise[n - 3] * static_cast<std::complex<float>>(std::polar(1.0, -2 * M_PI * 3.7 * 3));
  }
  const Plan plan = plan_of(problem);
  Stream stream(plan);
  stream.set_delays(0, std::vector<double>{0, 3});
  Spectra out(stream.due(in.size() * 8) * plan.spectrum_size());
  stream.push(std::span<const std::complex<float>>(in), out);
  const std::size_t times = out.size() / plan.spectrum_size();
  Correlator correlator(problem, {.times = times});
  Spectra sums(correlator.size());
  ASSERT_EQ(correlator.push(out, sums), 1u);
  for (std::size_t k = 0; k < 8; ++k) {
    const std::complex<float> autos = sums[k], cross = sums[8 + k];
    EXPECT_NEAR(cross.real() / autos.real(), 1, 1e-3) << k;
    EXPECT_NEAR(cross.imag() / autos.real(), 0, 1e-3) << k;
  }
}

TEST(Correlator, MistakesAreRefused) {
  const Problem problem{.channels = 16, .stations = 2};
  EXPECT_THROW(Correlator(problem, {.times = 0}), Error);
  EXPECT_THROW(Correlator(problem, {.times = 4, .channels = 3}), Error);
  // Sums that join both edges of the band.
  EXPECT_THROW(Correlator({.channels = 6, .stations = 2}, {.times = 4, .channels = 2}), Error);
  EXPECT_THROW(Correlator({.channels = 9, .stations = 2}, {.times = 4, .channels = 3}), Error);
  EXPECT_NO_THROW(Correlator({.channels = 6, .stations = 2, .centred = true}, {.times = 4, .channels = 2}));
  for (const std::size_t summed : {1, 3, 6}) {
    EXPECT_NO_THROW(Correlator({.channels = 6, .stations = 2}, {.times = 4, .channels = summed})) << summed;
  }
  Problem by_channel = problem;
  by_channel.order = Order::channel;
  EXPECT_THROW(Correlator(by_channel, {.times = 24}), Error) << "blocks of 16 times";
  Correlator correlator(problem, {.times = 4});
  const Spectra spectra = random_spectra(problem, 4);
  Spectra out(correlator.size() - 1);
  EXPECT_THROW(correlator.push(spectra, out), Error);
  EXPECT_THROW(correlator.push(std::span(spectra).first(5), out), Error);
  EXPECT_EQ(correlator.flops(), 8.0 * 3 * 4 * 16);
}

}  // namespace
}  // namespace ridge::filterbank::test
