// Tests every variant against the definition in double.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "filterbank/host/host_variant.hpp"
#include "support.hpp"

namespace ridge::filterbank::test {
namespace {

using testing::HasSubstr;

struct VariantCase {
  const char* name;
  Problem problem;
  std::size_t spectra;
};

std::vector<VariantCase> variant_cases() {
  std::vector<VariantCase> all{
      {"usual", {.channels = 64, .taps = 16, .stations = 2}, 37},
      {"one polarization", {.channels = 32, .taps = 8, .stations = 3, .polarizations = 1}, 40},
      {"odd channels", {.channels = 15, .taps = 5, .stations = 2}, 33},
      {"prime channels", {.channels = 37, .taps = 3}, 21},
      {"large prime", {.channels = 127, .taps = 4}, 9},
      {"one tap", {.channels = 16, .taps = 1, .stations = 2}, 9},
      {"one channel", {.channels = 1, .taps = 4}, 9},
      {"two channels", {.channels = 2, .taps = 7}, 29},
      {"many taps", {.channels = 8, .taps = 67}, 80},
      {"odd taps", {.channels = 24, .taps = 13, .stations = 2}, 30},
      {"int4", {.channels = 40, .taps = 4, .stations = 2, .samples = Samples::int4}, 20},
      {"int4 of one polarization", {.channels = 21, .taps = 4, .polarizations = 1, .samples = Samples::int4}, 20},
      {"int16", {.channels = 48, .taps = 16, .samples = Samples::int16}, 25},
      {"int16 of one polarization", {.channels = 20, .taps = 6, .polarizations = 1, .samples = Samples::int16}, 25},
      {"float", {.channels = 12, .taps = 4, .stations = 2, .samples = Samples::float32}, 25},
      {"float of one polarization", {.channels = 9, .taps = 4, .polarizations = 1, .samples = Samples::float32}, 25},
      {"centred", {.channels = 16, .taps = 4, .centred = true}, 12},
      {"interleaved stations", {.channels = 16, .taps = 4, .stations = 3, .input_block = 1}, 12},
      {"long blocks", {.channels = 8, .taps = 4, .stations = 3, .input_block = 20}, 14},
      {"threads", {.channels = 16, .taps = 4, .stations = 5, .threads = 3}, 100},
      {"threads over time", {.channels = 16, .taps = 4, .stations = 1, .threads = 3}, 100},
      {"doubled", {.channels = 16, .taps = 4, .stations = 2, .oversampling = {2, 1}}, 40},
      {"32/27", {.channels = 64, .taps = 6, .oversampling = {32, 27}}, 70},
      {"8/7", {.channels = 56, .taps = 5, .stations = 2, .oversampling = {8, 7}, .threads = 2}, 70},
      {"4/3 centred", {.channels = 12, .taps = 5, .oversampling = {4, 3}, .centred = true}, 50},
      {"every sample", {.channels = 6, .taps = 3, .oversampling = {6, 1}}, 40},
      {"5/3 of odd channels", {.channels = 25, .taps = 3, .polarizations = 1, .oversampling = {5, 3}}, 40},
  };
  const std::vector<VariantCase> by_channel{
      {"channel-major", {.channels = 64, .taps = 4, .stations = 3, .order = Order::channel}, 40},
      {"blocks of 5 times",
       {.channels = 15, .taps = 4, .stations = 2, .order = Order::channel, .output_times = 5, .threads = 3},
       100},
      {"times one by one",
       {.channels = 12, .taps = 4, .polarizations = 1, .order = Order::channel, .output_times = 1},
       10},
      {"channel-major, 4/3",
       {.channels = 12, .taps = 4, .stations = 2, .oversampling = {4, 3}, .order = Order::channel, .output_times = 3},
       20},
  };
  all.insert(all.end(), by_channel.begin(), by_channel.end());
  VariantCase bandpass{"bandpass", {.channels = 16, .taps = 4, .stations = 2}, 10};
  for (std::size_t i = 0; i < 64; ++i) {
    bandpass.problem.bandpass.emplace_back(1 + 0.01f * static_cast<float>(i), 0.02f * static_cast<float>(i % 7));
  }
  all.push_back(bandpass);
  bandpass.name = "bandpass of the channels";
  bandpass.problem.bandpass.resize(16);
  all.push_back(bandpass);
  bandpass.name = "bandpass, channel-major";
  bandpass.problem.order = Order::channel;
  bandpass.problem.output_times = 4;
  all.push_back(bandpass);
  return all;
}

TEST(Variants, EveryOneAgreesWithTheDefinition) {
  std::size_t compared = 0;
  for (const VariantCase& one : variant_cases()) {
    const Geometry g = resolve(one.problem);
    const Bytes bytes = noise(one.problem, one.spectra * g.hop);
    const auto wanted = expected(one.problem, bytes);
    for (const auto& candidate : candidates(host(), one.problem)) {
      if (!candidate.refusal.empty()) continue;
      EXPECT_LT(error(run(plan_of(one.problem, candidate.name()), bytes), wanted), 1e-6)
          << one.name << " by " << candidate.name();
      ++compared;
    }
  }
  EXPECT_GT(compared, 150u);
}

TEST(Variants, TheFirAloneIsTheBankBeforeItsFft) {
  for (const Problem& asked : {Problem{.channels = 32, .taps = 5, .stations = 3, .threads = 2},
                               Problem{.channels = 15, .taps = 16, .polarizations = 1, .samples = Samples::int16}}) {
    const Problem problem = complete(asked);
    const Geometry g = resolve(problem);
    const Bytes bytes = noise(problem, 40 * g.channels);
    const auto fir = host_fir_alone(problem, g);
    const RawView raw(0, bytes.data(), bytes.size(), nullptr, 0);
    base::AlignedArray<std::complex<float>> out(40 * g.spectrum_size());
    fir->run({.raw = raw, .spectra = 40, .weights = *fir->prepare(problem.weights), .out = out.data()});
    Spectra transformed(out.size());
    for (std::size_t at = 0; at < out.size(); at += g.channels) {
      for (std::size_t k = 0; k < g.channels; ++k) {
        std::complex<double> sum = 0;
        for (std::size_t m = 0; m < g.channels; ++m) {
          const double cycles = static_cast<double>(k * m % g.channels) / static_cast<double>(g.channels);
          sum += std::complex<double>(out[at + m]) * std::polar(1.0, -2 * M_PI * cycles);
        }
        transformed[at + k] = std::complex<float>(sum);
      }
    }
    EXPECT_LT(error(transformed, expected(problem, bytes)), 1e-6);
  }
}

TEST(Variants, AllTapsUpToForty) {
  for (std::size_t taps = 1; taps <= 40; ++taps) {
    for (const std::size_t polarizations : {1, 2}) {
      const Problem problem{.channels = 11, .taps = taps, .polarizations = polarizations};
      const Bytes bytes = noise(problem, 11 * 50, static_cast<unsigned>(taps));
      EXPECT_LT(error(run(plan_of(problem), bytes), expected(problem, bytes)), 1e-6) << taps;
    }
  }
}

TEST(Variants, TheLowestIntegersAreNotClamped) {
  for (const auto& [type, lowest] :
       {std::pair{Samples::int4, -8.0}, {Samples::int8, -128.0}, {Samples::int16, -32768.0}}) {
    Problem problem{.channels = 16, .taps = 2, .samples = type};
    problem.weights.assign(32, 0.0);
    for (std::size_t m = 0; m < 16; ++m) problem.weights[m] = 1;  // only the newest block
    Bytes bytes(16 * 2 * bytes_of(type) * 3);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      // The lowest value of the type in every part: 0x8, 0x80, 0x8000.
      bytes[i] = type == Samples::int4                 ? std::byte{0x88}
                 : type == Samples::int8 || i % 2 == 1 ? std::byte{0x80}
                                                       : std::byte{0};
    }
    for (const auto& candidate : candidates(host(), problem)) {
      if (!candidate.refusal.empty()) continue;
      const Spectra out = run(plan_of(problem, candidate.name()), bytes);
      EXPECT_EQ(out[0], std::complex<float>(static_cast<float>(16 * lowest), static_cast<float>(16 * lowest)))
          << candidate.name();
      for (std::size_t k = 1; k < 16; ++k) EXPECT_LT(std::abs(out[k]), 1e-9) << candidate.name();
    }
  }
}

TEST(Variants, TheLowNibbleIsReal) {
  Problem problem{.channels = 1, .taps = 1, .polarizations = 1, .samples = Samples::int4};
  problem.weights = {1};
  for (int value = 0; value < 256; ++value) {
    const int low = value & 15, high = value >> 4;
    const std::complex<float> wanted(static_cast<float>(low > 7 ? low - 16 : low),
                                     static_cast<float>(high > 7 ? high - 16 : high));
    EXPECT_EQ(run(plan_of(problem), Bytes{static_cast<std::byte>(value)})[0], wanted);
  }
  // The vectorized path: 256 channels with one value each, which the FFT keeps distinguishable.
  problem.channels = 256;
  problem.weights.assign(256, 1.0);
  Bytes bytes(256);
  for (std::size_t i = 0; i < 256; ++i) bytes[i] = static_cast<std::byte>(i);
  EXPECT_LT(error(run(plan_of(problem), bytes), expected(problem, bytes)), 1e-6);
}

// A prototype of ones over three blocks: channel 0 is a moving average.
TEST(Variants, AllOnesGiveAMovingAverage) {
  Problem problem{.channels = 8, .taps = 3, .polarizations = 1, .samples = Samples::int16};
  problem.weights.assign(24, 1.0 / 24);
  std::vector<std::int16_t> samples(2 * 8 * 10);
  for (std::size_t n = 0; n < 80; ++n) samples[2 * n] = static_cast<std::int16_t>(3 * n);
  const Plan plan = plan_of(problem);
  Stream stream(plan);
  Spectra out(stream.due(samples.size() * 2) * 8);
  stream.push(std::span<const std::int16_t>(samples), out);
  for (std::size_t t = 2; t < 10; ++t) {
    // Samples 8 t - 16 to 8 t + 7 of a ramp of slope 3.
    EXPECT_NEAR(out[t * 8].real(), 3 * (8.0 * static_cast<double>(t) - 4.5), 1e-3);
  }
}

TEST(Variants, RefusalsSayWhy) {
  const auto refusal = [](const Problem& problem, const std::string& variant) -> std::string {
    for (const auto& one : candidates(host(), problem)) {
      if (one.variant == variant) return one.refusal;
    }
    return "no such variant";
  };
  EXPECT_THAT(refusal({.polarizations = 1}, "simd_polarizations"), HasSubstr("two polarizations"));
  EXPECT_THAT(refusal({.taps = 7}, "unrolled_ring"), HasSubstr("not 7"));
  EXPECT_THAT(refusal({.channels = 56, .oversampling = {8, 7}}, "separate"), HasSubstr("critical"));
}

TEST(Variants, ThePlannerChoosesAndExplains) {
  const Plan plan = filterbank::plan(host(), {.channels = 32, .taps = 4, .stations = 2},
                                     {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false});
  EXPECT_THAT(plan.variant(), HasSubstr("fused"));
  EXPECT_THAT(plan.explain(), HasSubstr("reference"));
  EXPECT_EQ(plan.hop(), 32u);
  EXPECT_EQ(plan.spectrum_size(), 2u * 2 * 32);
  EXPECT_EQ(plan.history(), 127u);
}

TEST(Variants, ImpossibleProblemsAreRefusedInWords) {
  const auto says = [](const Problem& problem) -> std::string {
    try {
      plan_of(problem);
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::invalid_argument);
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(says({.channels = 0}), HasSubstr("channels is 0"));
  EXPECT_THAT(says({.taps = 0}), HasSubstr("taps is 0"));
  EXPECT_THAT(says({.stations = 0}), HasSubstr("stations is 0"));
  EXPECT_THAT(says({.polarizations = 3}), HasSubstr("3 polarizations"));
  EXPECT_THAT(says({.channels = 64, .oversampling = {8, 9}}), HasSubstr("below 1"));
  EXPECT_THAT(says({.channels = 64, .oversampling = {7, 6}}), HasSubstr("no whole number"));
  EXPECT_THAT(says({.channels = 64, .oversampling = {0, 1}}), HasSubstr("0/1"));
  EXPECT_THAT(says({.channels = 15, .centred = true}), HasSubstr("even"));
  EXPECT_THAT(says({.channels = 4, .taps = 2, .weights = {1, 2, 3}}), HasSubstr("3 weights"));
  EXPECT_THAT(says({.channels = 1, .taps = 1, .weights = {NAN}}), HasSubstr("finite"));
  EXPECT_THAT(says({.channels = 4, .bandpass = {1, 2}}), HasSubstr("bandpass of 2"));
  EXPECT_THAT(says({.channels = std::size_t{1} << 40}), HasSubstr("too large"));
}

}  // namespace
}  // namespace ridge::filterbank::test
