// Every variant of the filter bank on every device of this machine (PoCL on the build machines) against the definition.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "device/cuda/nvrtc.hpp"
#include "filterbank/correlator.hpp"
#include "filterbank/device/compiled_bank.hpp"
#include "filterbank/device/lines_codegen.hpp"
#include "filterbank/device/matrix_weights.hpp"
#include "filterbank/device/products.hpp"
#include "support.hpp"
#include "support/devices.hpp"
#include "support/hopper.hpp"

namespace ridge::filterbank::test {
namespace {

using namespace on_device;

using ridge::test::accelerators;

class BankOnDevices : public ridge::test::NeedsAccelerator<> {};

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

// A kernel costs a compilation of seconds on PoCL: every variant of the first problem, of the others the one that would
// be chosen, and where there is a bandpass one that is not fused. A GPU runs every kernel of every problem.
TEST_F(BankOnDevices, EveryVariantAgreesWithTheDefinition) {
  for (const Device& device : accelerators()) {
    const bool compiles_fast = device.limits().sub_group != 0;
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
      every = compiles_fast;
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
      // And from the middle on.
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

// Delays that cross halves of a sample, each station at another spectrum, with polarizations apart.
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

TEST_F(BankOnDevices, PowerInOneKernelIsTheDetectorsHoweverItIsCut) {
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
  };
  for (const Device& device : accelerators()) {
    for (const Wanted& one : all) {
      const Bytes bytes = noise(one.problem, 1000);
      const auto run_power = [&](const Device& where, std::size_t piece) {
        PowerStream stream(where, one.problem, one.detection, {.effort = Effort::quick});
        std::vector<float> out;
        for (std::size_t at = 0; at < bytes.size(); at += piece) {
          const auto now = std::span<const std::byte>(bytes).subspan(at, std::min(piece, bytes.size() - at));
          const std::size_t before = out.size();
          out.resize(before + stream.due(now.size()) * stream.row_size());
          stream.push(now, std::span(out).subspan(before));
        }
        return out;
      };
      const auto wanted = run_power(host(), bytes.size()), got = run_power(device, bytes.size());
      ASSERT_FALSE(wanted.empty());
      EXPECT_LT(error(std::vector<std::complex<float>>(got.begin(), got.end()),
                      std::vector<std::complex<float>>(wanted.begin(), wanted.end())),
                2e-6)
          << one.problem.channels << " on " << device.id();
      EXPECT_EQ(got, run_power(device, 777));
    }
  }
}

TEST_F(BankOnDevices, CorrelatorIsTheHostsHoweverItIsCut) {
  struct Wanted {
    Problem problem;
    Correlation correlation;
    std::size_t times;
  };
  const std::vector<Wanted> all{
      {{.channels = 6, .stations = 3, .order = Order::channel, .output_times = 4}, {.times = 8, .channels = 2}, 20},
      {{.channels = 3, .stations = 19, .order = Order::channel, .output_times = 16}, {.times = 272}, 544},
      {{.channels = 4, .stations = 5, .polarizations = 1}, {.times = 7}, 16},
  };
  std::mt19937 random(3);
  std::normal_distribution<float> normal;
  for (const Device& device : accelerators()) {
    for (const Wanted& one : all) {
      Correlator on_host(one.problem, one.correlation), whole(device, one.problem, one.correlation),
          cut(device, one.problem, one.correlation);
      const std::size_t each = one.problem.channels * one.problem.stations * one.problem.polarizations;
      Spectra spectra(one.times * each);
      for (auto& value : spectra) value = {normal(random), normal(random)};
      const std::size_t integrations = one.times / one.correlation.times;
      Spectra wanted(integrations * on_host.size()), got(wanted.size()), parts(wanted.size());
      ASSERT_EQ(on_host.push(spectra, wanted), integrations);
      ASSERT_EQ(whole.push(spectra, got), integrations);
      EXPECT_LT(error(got, wanted), 4e-7) << one.problem.stations << " on " << device.id();
      const std::size_t block = one.problem.order == Order::channel ? one.problem.output_times : 1;
      std::size_t written = 0;
      for (std::size_t t = 0; t < one.times; t += block) {
        written += cut.push(std::span(spectra).subspan(t * each, block * each),
                            std::span(parts).subspan(written * cut.size()));
      }
      EXPECT_TRUE(same_bits(parts, got)) << one.problem.stations << " on " << device.id();
      // And where the spectra are there already.
      Queue queue = device.queue();
      const std::size_t times = integrations * one.correlation.times;
      const Buffer in = uploaded(device, std::span<const std::complex<float>>(spectra), "spectra");
      const Buffer out = device.buffer(got.size() * sizeof got[0]);
      whole.enqueue(queue, in, times, out);
      queue.download(out, std::span(parts));
      queue.finish();
      EXPECT_TRUE(same_bits(parts, got)) << one.problem.stations << " on " << device.id();
      EXPECT_THROW(whole.enqueue(queue, in, times + 1, out), Error);
    }
  }
}

// Rounded values: bytes give the same integers everywhere, halves the same products with another order of sums.
TEST_F(BankOnDevices, CorrelatorOfRoundedValues) {
  struct Wanted {
    Problem problem;
    Correlation correlation;
    std::size_t times;
  };
  // One block of signals straight to the output, two blocks, and sums of channels through totals.
  const std::vector<Wanted> all{
      {{.channels = 2, .stations = 35, .order = Order::channel, .output_times = 16},
       {.times = 32, .arithmetic = Arithmetic::float16},
       64},
      {{.channels = 1, .stations = 67, .order = Order::channel, .output_times = 4},
       {.times = 36, .arithmetic = Arithmetic::int8, .scale = 30},
       36},
      {{.channels = 4, .stations = 5, .polarizations = 1},
       {.times = 21, .channels = 2, .arithmetic = Arithmetic::int8, .scale = 30},
       42},
      {{.channels = 3, .stations = 2}, {.times = 20, .arithmetic = Arithmetic::int8, .scale = 30}, 40},
  };
  std::mt19937 random(5);
  std::normal_distribution<float> normal;
  for (const Device& device : accelerators()) {
    for (const Wanted& one : all) {
      const bool bytes = one.correlation.arithmetic == Arithmetic::int8;
      const std::size_t each = one.problem.channels * one.problem.stations * one.problem.polarizations;
      Spectra spectra(one.times * each);
      for (auto& value : spectra) value = {normal(random), normal(random)};
      const Buffer in = uploaded(device, std::span<const std::complex<float>>(spectra), "spectra");
      Correlation floats = one.correlation;
      floats.arithmetic = Arithmetic::float32, floats.scale = 1;
      Correlator on_host(one.problem, one.correlation), plain(one.problem, floats);
      Spectra wanted(one.times / one.correlation.times * on_host.size()), exact(wanted.size()), got(wanted.size());
      on_host.push(spectra, wanted);
      plain.push(spectra, exact);
      EXPECT_LT(error(wanted, exact), bytes ? 2e-2 : 5e-4);
      const double allowed = bytes ? 1e-7 : 1e-6;
      const auto matrix = make_correlator(device, one.problem, one.correlation, true);
      Queue queue = device.queue();
      const Buffer out = device.buffer(got.size() * sizeof got[0]);
      queue.fill(out, std::byte{0xff});
      matrix->enqueue(queue, in, one.times, out);
      queue.download(out, std::span(got));
      queue.finish();
      EXPECT_LE(error(got, wanted), allowed) << one.problem.stations << " stations on matrix units";
      if (one.problem.stations > 30) continue;  // the same kernels, larger
      for (const bool units : {true, false}) {
        std::fill(got.begin(), got.end(), std::complex<float>(NAN, NAN));
        make_correlator(device, one.problem, one.correlation, units)->push(spectra, got.data());
        EXPECT_LE(error(got, wanted), allowed) << one.problem.stations << " stations pushed, matrix units " << units;
      }
    }
  }
}

TEST_F(BankOnDevices, CorrelatorOfPackedRows) {
  const Device device = accelerators().front();
  const Problem problem{.channels = 3, .stations = 4, .order = Order::channel, .output_times = 16};
  const Correlation correlation{.times = 64, .arithmetic = Arithmetic::int8, .scale = 40};
  Spectra spectra(128 * 24);
  std::mt19937 random(6);
  std::normal_distribution<float> normal;
  for (auto& value : spectra) value = {normal(random), normal(random)};
  Correlator correlator(device, problem, correlation);
  EXPECT_EQ(correlator.packed_times(), 32u);
  const Buffer in = uploaded(device, std::span<const std::complex<float>>(spectra), "spectra");
  const Buffer rows = device.buffer(spectra.size() * 2), out = device.buffer(2 * correlator.size() * 8);
  Queue queue = device.queue();
  correlator.pack(queue, in, 128, rows);
  correlator.enqueue_packed(queue, rows, 128, out);
  Spectra wanted(2 * correlator.size()), got(wanted.size());
  correlator.push(spectra, wanted);
  queue.download(out, std::span(got));
  queue.finish();
  EXPECT_LE(error(got, wanted), 1e-7);
  EXPECT_THROW(correlator.enqueue_packed(queue, rows, 96, out), Error);
  EXPECT_THROW(correlator.pack(queue, in, 129, rows), Error);
  EXPECT_THROW(Correlator(device, problem, {.times = 64}).packed_times(), Error);
  EXPECT_THROW(Correlator(device, problem, {.times = 64, .scale = 2}), Error);
}

TEST_F(BankOnDevices, ResidentSamplesAndWhatABufferMustHold) {
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

// --- the matrix units, imitated where there are none ---------------------------------------------------------------

TEST(MatrixWeights, TwoHalvesHoldAWeight) {
  for (const double value : {1.0, -0.3, 1e-4, 3e-6, 16383.9, 0.0}) {
    const double upper = half_value(half_bits(value)), lower = half_value(half_bits(value - upper));
    EXPECT_NEAR(upper + lower, value, std::abs(value) * 0x1p-22 + 0x1p-25);
  }
  EXPECT_EQ(half_bits(1.0), 0x3c00);
  EXPECT_EQ(half_bits(-2.0), 0xc000);
  EXPECT_EQ(half_bits(0x1p-24), 1);
}

struct KernelCase {
  Fir fir;
  std::size_t channels, taps;
  Samples samples;
  bool delayed = false;
  std::size_t steps = 0;
  bool local_weights = false;
  std::size_t parts = 4;
};

TEST_F(BankOnDevices, KernelsThatThePlannerMayNotChooseHere) {
  for (const Device& device : accelerators()) {
    for (const KernelCase& one : {KernelCase{Fir::matrix, 32, 12, Samples::int8},
                                  {Fir::matrix, 32, 16, Samples::int16},
                                  {Fir::blocks, 512, 5, Samples::int16},
                                  {Fir::blocks, 512, 8, Samples::int8, false, 8, false, 2},
                                  {Fir::blocks, 512, 5, Samples::int8, true, 8, true, 2},
                                  {Fir::blocks, 2048, 3, Samples::int4, false, 1, true},
                                  {Fir::blocks, 4096, 2, Samples::int8, false, 1},
                                  {Fir::blocks, 1024, 4, Samples::int8, true}}) {
      Problem problem = complete({.channels = one.channels, .taps = one.taps, .stations = 2, .samples = one.samples});
      if (one.delayed) problem.delays = {.wanted = true, .frequency = 0.3, .longest = 40};
      const Geometry g = resolve(problem);
      const bool blocks = one.fir == Fir::blocks;
      const KernelDesign design{.geometry = g,
                                .fir = one.fir,
                                .items = blocks ? 256u : 64u,
                                .parts = one.parts,
                                .steps = one.steps > 0 ? one.steps
                                         : blocks      ? 2048 / one.channels * 2
                                                       : 32,
                                .rounds = blocks ? 4u : 2u,
                                .resident = 1,
                                .local_weights = one.local_weights};
      if (text_of(design).local_bytes > device.limits().local_memory) continue;  // NVIDIA's OpenCL has 48 KiB
      const CompiledBank bank(device, design, {});
      const auto weights = bank.prepare(problem.weights);
      const std::size_t spectra = blocks ? 41 : 77;
      const Bytes bytes = noise(problem, spectra * g.hop + g.longest);
      const Buffer in = uploaded(device, std::span<const std::byte>(bytes), "samples");
      const Buffer out = device.buffer(spectra * g.spectrum_size() * 8);
      // A delay that stays: 3.25 and 37.5 samples less a bit, the second polarization later.
      std::vector<DelayPoint> points;
      std::vector<std::int32_t> shifts{3, 37};
      std::vector<float> phases;
      if (one.delayed) {
        points = {{0, {3.25, 37.25, 3.375, 37.375}}};
        for (std::size_t t = 0; t < spectra; ++t) {
          for (std::size_t i = 0; i < 4; ++i) {
            const double turns = 0.3 * points[0].delays[i];
            phases.push_back(static_cast<float>(turns - std::rint(turns)));
            phases.push_back(
                static_cast<float>((points[0].delays[i] - shifts[i % 2]) / static_cast<double>(one.channels)));
          }
        }
      }
      Stretch stretch{.samples = in, .spectra = out, .count = spectra};
      if (one.delayed) {
        stretch.shifts = uploaded(device, std::span<const std::int32_t>(shifts), "shifts");
        stretch.phases = uploaded(device, std::span<const float>(phases), "phases");
      }
      Queue queue = device.queue();
      Spectra whole(spectra * g.spectrum_size()), parts(whole.size());
      bank.enqueue(queue, stretch, *weights);
      queue.download(out, std::span(whole));
      for (const auto& [first, count] : {std::pair{0, 13}, {13, 20}, {33, static_cast<int>(spectra) - 33}}) {
        stretch.out_offset = static_cast<std::size_t>(first) * g.spectrum_size();
        stretch.first = static_cast<std::uint64_t>(first);
        stretch.first_phase = static_cast<std::size_t>(first);
        stretch.count = static_cast<std::size_t>(count);
        bank.enqueue(queue, stretch, *weights);
      }
      queue.download(out, std::span(parts));
      queue.finish();
      auto wanted = expected(problem, bytes, points);
      wanted.resize(whole.size());
      EXPECT_LT(error(whole, wanted), 4e-7) << on_device::to_string(one.fir) << ' ' << one.channels << ' ' << one.taps;
      EXPECT_TRUE(same_bits(whole, parts)) << on_device::to_string(one.fir) << ' ' << one.channels << ' ' << one.taps;
    }
  }
}

// Specialized warps meet at barriers that only CUDA has: nothing else can run them. Every number of channels, every
// sort of samples, taps that end within a product and beyond one, each sort of bandpass, stretches that begin and end
// anywhere.
TEST_F(BankOnDevices, SpecializedWarpsAgreeWithTheDefinition) {
  std::size_t ran = 0;
  bool any = false;
  for (const Device& device : accelerators()) {
    if (device.info().backend != Backend::cuda) continue;
    any = true;
    for (const std::size_t channels : {64u, 128u, 256u}) {
      for (const Samples samples : {Samples::int4, Samples::int8, Samples::int16}) {
        for (const std::size_t taps : {2u, 8u, 13u, 16u, 33u}) {
          Problem problem{.channels = channels, .taps = taps, .stations = 1 + taps % 3, .samples = samples};
          const std::size_t values = channels * problem.stations * problem.polarizations;
          const std::size_t factors = taps == 8 ? channels : taps == 13 ? values : 0;
          for (std::size_t i = 0; i < factors; ++i)
            problem.bandpass.emplace_back(1 + 0.01f * static_cast<float>(i % 50), 0.02f * static_cast<float>(i % 7));
          for (const auto& candidate : candidates(device, problem)) {
            const bool specialized =
                candidate.variant == "fused" && candidate.name().find("warp_specialized") != std::string::npos;
            if (!specialized || !candidate.refusal.empty()) continue;
            ++ran;
            const Bytes bytes = noise(problem, 301 * channels, static_cast<unsigned>(taps));
            const Plan plan = filterbank::plan(device, problem, only(candidate.name()));
            const Spectra whole = run(plan, bytes);
            EXPECT_LT(error(whole, expected(problem, bytes)), 4e-7)
                << channels << " channels of " << taps << " taps, " << ridge::to_string(samples) << ", "
                << candidate.name();
            EXPECT_TRUE(same_bits(whole, run_in_pieces(plan, bytes, {}, 17 * channels * problem.stations + 12)));
          }
        }
      }
    }
  }
  if (!any) GTEST_SKIP() << "no CUDA device";
  EXPECT_GE(ran, 20u) << "the planner does not offer these kernels any more";
}

TEST(BankKernels, CorrelatorsCompileForHopper) {
  if (!detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  const Geometry geometry = resolve({.channels = 256, .stations = 100});
  for (const Arithmetic arithmetic : {Arithmetic::float16, Arithmetic::int8}) {
    for (const bool direct : {false, true}) {
      const Correlation correlation{.arithmetic = arithmetic};
      const on_device::ProductsWanted wanted{.device = ridge::test::hopper(),
                                             .geometry = geometry,
                                             .correlation = correlation,
                                             .baselines = 5050,
                                             .direct = direct};
      for (const KernelSource& source : matrix_products_kernels(wanted)) {
        EXPECT_NO_THROW({ EXPECT_FALSE(detail::compile_for(source, "sm_90").empty()); });
      }
      for (const KernelSource& source : warp_group_kernels(wanted)) {
        for (const auto& kernel : detail::resources_for(source, "sm_90a")) {
          EXPECT_EQ(kernel.spilled_bytes, 0) << source.name << ' ' << kernel.kernel;
        }
      }
    }
  }
}

// Needs no GPU: what a CUDA device would be given.
TEST(BankKernels, ScenariosCompileForHopper) {
  if (!detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  struct Scenario {
    Fir fir;
    std::size_t channels, taps, items, steps;
    Samples samples = Samples::int8;
  };
  for (const Scenario& one : {Scenario{Fir::registers, 256, 16, 256, 8},
                              {Fir::warp_specialized, 256, 16, 512, 32},
                              {Fir::warp_specialized, 128, 13, 512, 64, Samples::int4},
                              {Fir::warp_specialized, 64, 2, 512, 128, Samples::int16},
                              {Fir::blocks, 1024, 4, 256, 4},
                              {Fir::blocks, 1024, 16, 256, 8},
                              {Fir::blocks, 4096, 8, 256, 2}}) {
    KernelDesign design{
        .geometry = resolve({.channels = one.channels, .taps = one.taps, .stations = 64, .samples = one.samples}),
        .fir = one.fir,
        .items = one.items,
        .steps = one.steps};
    if (one.fir == Fir::registers) design.radices = radices_of(one.channels, 16);
    if (one.fir == Fir::warp_specialized) design.resident = 1;
    if (one.taps * one.channels > 4096) design.parts = 2;
    const KernelText text = text_of(design);
    EXPECT_LE(text.local_bytes, 227u << 10);
    EXPECT_NO_THROW({ EXPECT_FALSE(detail::compile_for(text.source, "sm_90").empty()); }) << text.source.text;
  }
}

}  // namespace
}  // namespace ridge::filterbank::test
