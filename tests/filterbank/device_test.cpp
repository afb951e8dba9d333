// Tests every variant of the filter bank on every device of this machine (PoCL on the build machines) against the
// definition.
#include <gtest/gtest.h>

#include <set>

#include "filterbank/device/compiled_bank.hpp"
#include "on_devices.hpp"
#include "support.hpp"

namespace ridge::filterbank::test {
namespace {

using on_device::uploaded;
using ridge::test::accelerators;

struct Case {
  const char* name;
  Problem problem;
  std::size_t spectra;
};

std::vector<Case> cases() {
  std::vector<Case> all{
      {"usual", {.channels = 32, .taps = 4, .stations = 2}, 37},
      {"a prime above the butterflies", {.channels = 37, .taps = 3}, 21},
      {"many taps", {.channels = 8, .taps = 67}, 80},
      {"int4", {.channels = 15, .taps = 3, .stations = 2, .samples = Samples::int4}, 20},
      {"int16", {.channels = 24, .taps = 3, .polarizations = 1, .samples = Samples::int16}, 25},
      {"long blocks", {.channels = 8, .taps = 4, .stations = 3, .samples = Samples::float32, .input_block = 20}, 14},
      {"4/3 centred", {.channels = 12, .taps = 5, .oversampling = {4, 3}, .centred = true}, 50},
      {"many stations", {.channels = 8, .taps = 2, .stations = 37}, 70},
  };
  Case bandpass{"bandpass", {.channels = 16, .taps = 4, .stations = 2}, 10};
  for (std::size_t i = 0; i < 64; ++i) {
    bandpass.problem.bandpass.emplace_back(1 + 0.01f * static_cast<float>(i), 0.02f * static_cast<float>(i % 7));
  }
  all.push_back(bandpass);
  bandpass.name = "bandpass of the channels";
  bandpass.problem.bandpass.resize(16);
  all.push_back(bandpass);
  return all;
}

// Compiling a kernel takes seconds on PoCL: of the first problem every variant is tested, of the others the one that
// would be chosen and, with a bandpass, one that is not fused. A GPU runs every kernel of every problem.
TEST_F(BankOnDevices, EveryVariantAgreesWithTheDefinition) {
  for (const Device& device : accelerators()) {
    bool every = true;
    for (const Case& one : cases()) {
      const Geometry g = resolve(one.problem);
      const Bytes bytes = noise(one.problem, one.spectra * g.hop);
      const auto wanted = expected(one.problem, bytes);
      std::set<std::string> seen;
      for (const auto& candidate : candidates(device, one.problem)) {
        if (!candidate.refusal.empty()) continue;
        std::string kind = candidate.variant;
        if (every && !candidate.parameters.empty()) kind += candidate.parameters.front().second;
        const bool asked = every || seen.empty() || (candidate.variant == "gathered" && !one.problem.bandpass.empty());
        if (!asked || !seen.insert(kind).second) continue;
        const Plan plan = filterbank::plan(device, one.problem, only(candidate.name()));
        EXPECT_LT(error(run(plan, bytes), wanted), 1e-6)
            << one.name << " by " << candidate.name() << " on " << device.id();
      }
      every = compiles_fast(device);
    }
  }
}

TEST_F(BankOnDevices, PiecesOfAnyLengthGiveTheSameBits) {
  for (const Device& device : accelerators()) {
    for (const Problem& problem : {Problem{.channels = 16, .taps = 4, .stations = 3},
                                   Problem{.channels = 16, .taps = 3, .oversampling = {8, 7}}}) {
      const Plan plan = filterbank::plan(device, problem, only("fused"));
      const Bytes bytes = noise(problem, problem.channels * 90);
      const Spectra whole = run(plan, bytes);
      std::mt19937 random(5);
      Stream stream(plan);
      Spectra parts;
      for (std::size_t at = 0; at < bytes.size();) {
        const std::size_t now = std::min<std::size_t>(random() % 2000, bytes.size() - at);
        Spectra out(stream.due(now) * plan.spectrum_size());
        stream.push(std::span<const std::byte>(bytes).subspan(at, now), out);
        parts.insert(parts.end(), out.begin(), out.end());
        at += now;
      }
      EXPECT_TRUE(same_bits(parts, whole)) << device.id();
      // The same from the middle of the stream on.
      Stream later(plan);
      const std::uint64_t first = 37;
      const std::uint64_t skipped = later.start_at(first);
      const std::size_t from = skipped / resolve(problem).block * resolve(problem).frame_bytes();
      Spectra rest(later.due(bytes.size() - from) * plan.spectrum_size());
      later.push(std::span<const std::byte>(bytes).subspan(from), rest);
      EXPECT_TRUE(same_bits(
          rest, Spectra(whole.begin() + static_cast<std::ptrdiff_t>(first * plan.spectrum_size()), whole.end())));
    }
  }
}

// Delays that cross half samples, each station at another spectrum, with different polarizations.
TEST_F(BankOnDevices, DelaysAndTheChannelMajorOrder) {
  const DelayTracking delays{.wanted = true, .frequency = 768.123, .longest = 40};
  std::vector<Problem> problems{
      {.channels = 24, .taps = 4, .stations = 3, .delays = delays},
      {.channels = 12, .taps = 5, .stations = 2, .oversampling = {4, 3}, .centred = true, .delays = delays},
      {.channels = 16,
       .taps = 4,
       .stations = 3,
       .samples = Samples::int16,
       .input_block = 20,
       .order = Order::channel,
       .output_times = 7,
       .delays = delays},
      {.channels = 16, .taps = 4, .stations = 5, .order = Order::channel, .output_times = 4},
  };
  for (std::size_t i = 0; i < 24 * 6; ++i) {
    problems[0].bandpass.emplace_back(1 + 0.01f * static_cast<float>(i), 0.02f * static_cast<float>(i % 7));
  }
  for (const Device& device : accelerators()) {
    for (std::size_t i = 0; i < problems.size(); ++i) {
      const Problem& problem = problems[i];
      const auto points = problem.delays.wanted ? moving_delays(problem) : std::vector<DelayPoint>{};
      const Bytes bytes = noise(problem, 1000);
      const auto wanted = expected(problem, bytes, points);
      std::set<std::string> seen;
      for (const auto& candidate : candidates(device, problem)) {
        const bool asked = candidate.variant == "fused" || (candidate.variant == "gathered" && i % 2 == 0);
        if (!asked || !candidate.refusal.empty() || !seen.insert(candidate.variant).second) continue;
        const Plan plan = filterbank::plan(device, problem, only(candidate.name()));
        const Spectra whole = run_in_pieces(plan, bytes, points, bytes.size());
        EXPECT_LT(error(whole, wanted), 2e-6) << i << " by " << candidate.name() << " on " << device.id();
        EXPECT_TRUE(same_bits(whole, run_in_pieces(plan, bytes, points, 1777))) << i << " by " << candidate.name();
      }
    }
  }
}

TEST_F(BankOnDevices, PowerInOneKernelEqualsTheDetectorsForAnyPieces) {
  struct Wanted {
    Problem problem;
    Detection detection;
  };
  const std::vector<Wanted> all{
      {{.channels = 16, .taps = 4, .stations = 3}, {.products = Products::stokes, .times = 12, .channels = 4}},
      {{.channels = 12, .taps = 3, .polarizations = 1, .samples = Samples::int16, .oversampling = {4, 3}},
       {.products = Products::total, .times = 1, .channels = 1}},
      {{.channels = 16, .taps = 4, .stations = 2}, {.products = Products::powers, .times = 7, .channels = 2}},
      {{.channels = 37, .taps = 2}, {.products = Products::total, .times = 3, .channels = 37}},
      {{.channels = 16, .taps = 4, .stations = 3}, {.products = Products::moments, .times = 12, .channels = 4}},
      {{.channels = 9, .taps = 4, .polarizations = 1}, {.products = Products::moments, .times = 5}},
      {{.channels = 512, .taps = 8, .stations = 2}, {.products = Products::moments, .times = 8}},
  };
  for (const Device& device : accelerators()) {
    for (const Wanted& one : all) {
      const Bytes bytes = noise(one.problem, std::max<std::size_t>(1000, 30 * one.problem.channels));
      const auto run_power = [&](const Device& where, std::size_t piece) {
        return power_of(where, one.problem, one.detection, bytes, piece);
      };
      const auto wanted = run_power(host(), bytes.size()), got = run_power(device, bytes.size());
      ASSERT_FALSE(wanted.empty());
      ASSERT_EQ(got.size(), wanted.size());
      const Problem summed{.channels = one.problem.channels / one.detection.channels,
                           .polarizations = one.problem.polarizations};
      for (std::size_t i = 0; i < product_count(one.detection.products, summed.polarizations); ++i) {
        EXPECT_LT(product_error(summed, one.detection.products, i, got, wanted), 2e-6)
            << one.problem.channels << ", product " << i << " on " << device.id();
      }
      EXPECT_EQ(got, run_power(device, bytes.size() / 5 + 1));
    }
  }
}

TEST_F(BankOnDevices, ResidentSamplesGiveTheSameSpectraAndShortBuffersAreRefused) {
  const Problem problem{.channels = 16, .taps = 4, .stations = 2};
  const Device device = accelerators().front();
  const Plan plan = filterbank::plan(device, problem, only("fused"));
  const Bytes bytes = noise(problem, 16 * 40);
  const Spectra whole = run(plan, bytes);
  const Geometry g = resolve(problem);
  const std::uint64_t start = 160;
  const std::size_t from = start / g.block * g.frame_bytes();
  Queue queue = device.queue();
  const Buffer in = device.buffer(bytes.size() - from), out = device.buffer(20 * plan.spectrum_size() * 8);
  queue.upload(bytes.data() + from, in, in.size());
  plan.enqueue(queue, {.samples = in, .start = start, .spectra = out, .first = 13, .count = 20});
  Spectra got(20 * plan.spectrum_size());
  queue.download(out, std::span(got));
  queue.finish();
  const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(13 * plan.spectrum_size());
  EXPECT_TRUE(same_bits(got, Spectra(begin, begin + static_cast<std::ptrdiff_t>(got.size()))));
  EXPECT_THROW(plan.enqueue(queue, {.samples = in, .start = start, .spectra = out, .first = 12, .count = 1}), Error);
  EXPECT_THROW(plan.enqueue(queue, {.samples = in, .start = start, .spectra = out, .first = 20, .count = 21}), Error);
  EXPECT_THROW(plan.enqueue(queue, {.samples = in, .start = 8, .spectra = out, .first = 13, .count = 1}), Error);
}

TEST_F(BankOnDevices, ResidentSamplesWithDelays) {
  const Problem problem{
      .channels = 16, .taps = 4, .stations = 2, .delays = {.wanted = true, .frequency = 0.7, .longest = 40}};
  const std::vector<DelayPoint> points{{0, {3.25, 37.2, 3.5, 37.4}}};
  const Device device = accelerators().front();
  const Plan plan = filterbank::plan(device, problem, only("fused"));
  const Bytes bytes = noise(problem, 16 * 40);
  Queue queue = device.queue();
  const Buffer in = uploaded(device, std::span<const std::byte>(bytes), "samples");
  const Buffer out = device.buffer(20 * plan.spectrum_size() * 8);
  const Resident work{.samples = in, .spectra = out, .first = 5, .count = 20, .delays = points[0].delays};
  plan.enqueue(queue, work);
  Spectra got(20 * plan.spectrum_size());
  queue.download(out, std::span(got));
  queue.finish();
  const auto whole = expected(problem, bytes, points);
  const auto begin = whole.begin() + static_cast<std::ptrdiff_t>(5 * plan.spectrum_size());
  EXPECT_LT(error(got, std::vector(begin, begin + static_cast<std::ptrdiff_t>(got.size()))), 1e-6);
  EXPECT_THROW(plan.enqueue(queue, {.samples = in, .spectra = out, .count = 1}), Error);
}

}  // namespace
}  // namespace ridge::filterbank::test
