// Tests kernels that a plan does not choose on this machine: emulated matrix units, specialized warps, CUDA kernel
// text.
#include <string_view>

#include <gtest/gtest.h>
#include <ridge/half.hpp>

#include "device/cuda/nvrtc.hpp"
#include "filterbank/device/compiled_bank.hpp"
#include "filterbank/device/fir/fir.hpp"
#include "filterbank/device/fir/lines_codegen.hpp"
#include "filterbank/device/fir/matrix_weights.hpp"
#include "filterbank/device/separate.hpp"
#include "on_devices.hpp"
#include "support.hpp"
#include "support/worst.hpp"

namespace ridge::filterbank::test {
namespace {

using namespace on_device;

using ridge::test::accelerators;

// --- the matrix units, emulated on devices that have none ----------------------------------------------------------

TEST(MatrixWeights, TwoFloat16HoldAWeight) {
  for (const double value : {1.0, -0.3, 1e-4, 3e-6, 16383.9, 0.0}) {
    const auto [upper, lower] = split_float16(value);
    const double sum = static_cast<double>(from_float16(upper)) + static_cast<double>(from_float16(lower));
    EXPECT_NEAR(sum, value, std::abs(value) * 0x1p-22 + 0x1p-25);
  }
}

struct KernelCase {
  std::string_view fir;
  std::size_t channels, taps;
  Samples samples;
  bool delayed = false;
  std::size_t steps = 0;
  std::size_t local_weights = 0;
  std::size_t parts = 4, items = 256;
};

// The cases that compile within seconds. `fast`: the device compiles long kernels quickly.
std::vector<KernelCase> kernel_cases(const Device& device, bool fast) {
  std::vector<KernelCase> cases{{"matrix", 32, 12, Samples::int8},
                                {"blocks", 512, 5, Samples::int16},
                                {"blocks", 512, 5, Samples::int8, true, 8, 2, 2},
                                {"blocks", 512, 3, Samples::int8, false, 16, 0, 4, 512},
                                {"blocks", 1024, 2, Samples::int8, false, 8, 1, 4, 512},
                                {"blocks", 2048, 2, Samples::int8, false, 8, 0, 2, 512},
                                {"blocks", 2048, 3, Samples::int4, false, 1, 3},
                                {"stacked", 512, 11, Samples::int8, false, 16, 0, 4, 512}};
  const KernelCase others[] = {{"matrix", 32, 16, Samples::int16},
                               {"blocks", 512, 8, Samples::int8, false, 8, 0, 2},
                               {"blocks", 4096, 2, Samples::int8, false, 1},
                               {"blocks", 1024, 4, Samples::int8, true}};
  if (fast) cases.insert(cases.end(), std::begin(others), std::end(others));
  // Only GPUs compile these within seconds.
  const KernelCase long_filters[] = {{"blocks", 512, 16, Samples::int8, false, 16, 1, 4, 512},
                                     {"blocks", 512, 16, Samples::int16, false, 16, 0, 4, 512},
                                     {"blocks", 1024, 16, Samples::int8, false, 8, 2, 4, 512},
                                     {"blocks", 1024, 32, Samples::int8, true, 16, 1, 2, 512},
                                     {"blocks", 2048, 16, Samples::int8, false, 8, 2, 2, 512},
                                     {"blocks", 4096, 8, Samples::int8, false, 4, 5, 2, 512}};
  if (device.limits().private_arrays_in_registers) {
    cases.insert(cases.end(), std::begin(long_filters), std::end(long_filters));
  }
  return cases;
}

// A constant delay just below 3.25 and 37.5 samples, with the second polarization later.
struct ConstantDelay {
  std::vector<DelayPoint> points{{0, {3.25, 37.25, 3.375, 37.375}}};
  std::vector<std::int32_t> shifts{3, 37};
  std::vector<float> phases{};

  ConstantDelay(std::size_t channels, std::size_t spectra) {
    for (std::size_t t = 0; t < spectra; ++t) {
      for (std::size_t i = 0; i < 4; ++i) {
        const double cycles = 0.3 * points[0].delays[i];
        phases.push_back(static_cast<float>(cycles - std::rint(cycles)));
        phases.push_back(static_cast<float>((points[0].delays[i] - shifts[i % 2]) / static_cast<double>(channels)));
      }
    }
  }
};

TEST_F(BankOnDevices, KernelsThatThePlannerMayNotChooseHere) {
  for (const Device& device : accelerators()) {
    for (const KernelCase& one : kernel_cases(device, compiles_fast(device))) {
      Problem problem = complete({.channels = one.channels, .taps = one.taps, .stations = 2, .samples = one.samples});
      if (one.delayed) problem.delays = {.wanted = true, .frequency = 0.3, .longest = 40};
      const Geometry g = resolve(problem);
      const bool blocks = one.fir != "matrix";  // these choose their own number of items
      const KernelDesign design{.geometry = g,
                                .fir = fir_named(one.fir),
                                .items = blocks ? one.items : 64u,
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
      const ConstantDelay delay(one.channels, spectra);
      Stretch stretch{.samples = in, .spectra = out, .count = spectra};
      if (one.delayed) {
        stretch.shifts = uploaded(device, std::span<const std::int32_t>(delay.shifts), "shifts");
        stretch.phases = uploaded(device, std::span<const float>(delay.phases), "phases");
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
      auto wanted = expected(problem, bytes, one.delayed ? delay.points : std::vector<DelayPoint>{});
      wanted.resize(whole.size());
      EXPECT_LT(error(whole, wanted), 4e-7) << one.fir << ' ' << one.channels << ' ' << one.taps;
      EXPECT_TRUE(same_bits(whole, parts)) << one.fir << ' ' << one.channels << ' ' << one.taps;
    }
  }
}

// Spectra as bytes are the same kernel's floats, rounded.
TEST_F(BankOnDevices, SpectraAsBytes) {
  const Problem problem = complete({.channels = 512, .taps = 4, .stations = 3, .samples = Samples::int4});
  const Geometry g = resolve(problem);
  std::vector<double> scaled = problem.weights;
  for (double& weight : scaled) weight *= 200;
  const std::size_t spectra = 20, values = spectra * g.spectrum_size();
  const Bytes bytes = noise(problem, spectra * problem.channels);
  for (const Device& device : accelerators()) {
    const Buffer in = uploaded(device, std::span<const std::byte>(bytes), "samples");
    std::vector<KernelDesign> designs = byte_designs(device, problem, g);
    ASSERT_FALSE(designs.empty());
    if (!compiles_fast(device)) designs.resize(1);
    for (const KernelDesign& design : designs) {
      KernelDesign floats = design;
      floats.bytes = false;
      std::vector<float> expected(2 * values);
      std::vector<std::int8_t> found(2 * values);
      Queue queue = device.queue();
      const auto run = [&](const KernelDesign& one, auto& to) {
        const Buffer out = device.buffer(to.size() * sizeof to[0], {.name = "spectra"});
        const CompiledBank bank(device, one, {});
        const auto weights = bank.prepare(scaled);
        bank.enqueue(queue, {.samples = in, .spectra = out, .count = spectra}, *weights);
        queue.download(out, std::span(to));
        queue.finish();
      };
      run(floats, expected);
      run(design, found);
      double largest = 0;
      ridge::test::Worst worst;
      for (std::size_t i = 0; i < found.size(); ++i) {
        largest = std::max(largest, std::abs(static_cast<double>(expected[i])));
        worst.add(std::abs(found[i] - std::clamp<double>(expected[i], -127, 127)));
      }
      EXPECT_GT(largest, 127) << "nothing saturates";
      EXPECT_LE(worst.value(), 0.5001) << device.id() << ' ' << design.fir->name;
    }
  }
}

// Kernels that only CUDA devices get: every sample type, taps that end within a product and beyond one, each kind of
// bandpass, and ranges that begin and end anywhere.
class CudaBanks : public BankOnDevices {
 protected:
  static void agree(const std::string& kind, std::initializer_list<std::size_t> all_channels, std::size_t least,
                    const std::vector<Device>& devices = ridge::test::devices_of(Backend::cuda)) {
    std::size_t ran = 0;
    for (const Device& device : devices) {
      for (const std::size_t channels : all_channels) {
        for (const Samples samples : {Samples::int4, Samples::int8, Samples::int16}) {
          for (const std::size_t taps : {2u, 8u, 9u, 13u, 16u, 33u}) ran += with(device, kind, channels, samples, taps);
        }
      }
    }
    if (devices.empty()) GTEST_SKIP() << "no CUDA device";
    EXPECT_GE(ran, least) << "the planner does not offer these kernels any more";
  }

 private:
  static std::size_t with(const Device& device, const std::string& kind, std::size_t channels, Samples samples,
                          std::size_t taps) {
    std::size_t ran = 0;
    Problem problem{.channels = channels, .taps = taps, .stations = 1 + taps % 3, .samples = samples};
    const std::size_t values = channels * problem.stations * problem.polarizations;
    const std::size_t factors = taps == 8 || taps == 9 ? channels : taps == 13 ? values : 0;
    for (std::size_t i = 0; i < factors; ++i)
      problem.bandpass.emplace_back(1 + 0.01f * static_cast<float>(i % 50), 0.02f * static_cast<float>(i % 7));
    for (const auto& candidate : candidates(device, problem)) {
      const bool meant = candidate.variant == "fused" && candidate.name().find(kind) != std::string::npos;
      if (!meant || !candidate.refusal.empty()) continue;
      ++ran;
      const Bytes bytes = noise(problem, 301 * channels, static_cast<unsigned>(taps));
      const Plan plan = filterbank::plan(device, problem, only(candidate.name()));
      const Spectra whole = run(plan, bytes);
      EXPECT_LT(error(whole, expected(problem, bytes)), 4e-7)
          << channels << " channels of " << taps << " taps, " << ridge::to_string(samples) << ", " << candidate.name();
      EXPECT_TRUE(same_bits(whole, run_in_pieces(plan, bytes, {}, 17 * channels * problem.stations + 12)));
    }
    return ran;
  }
};

TEST_F(CudaBanks, SpecializedWarpsAgreeWithTheDefinition) { agree("warp_specialized", {64, 128, 256}, 20); }
TEST_F(CudaBanks, StackedProductsAgreeWithTheDefinition) { agree("stacked", {512}, 3); }
TEST_F(CudaBanks, AlternatingPolarizationsAgreeWithTheDefinition) { agree("alternating", {512, 1024}, 6, of_cuda()); }

// Needs no GPU: checks the text that a CUDA device would compile.
TEST(BankKernels, ScenariosCompileForHopper) {
  if (!detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  struct Scenario {
    std::string_view fir;
    std::size_t channels, taps, items, steps;
    Samples samples = Samples::int8;
  };
  for (const Scenario& one : {Scenario{"registers", 256, 16, 256, 8},
                              {"warp_specialized", 256, 16, 512, 32},
                              {"warp_specialized", 128, 13, 512, 64, Samples::int4},
                              {"warp_specialized", 64, 2, 512, 128, Samples::int16},
                              {"stacked", 512, 16, 512, 16},  // alternating, 16 taps: the next test
                              {"alternating", 1024, 9, 512, 8},
                              {"blocks", 1024, 4, 256, 4},
                              {"blocks", 1024, 16, 256, 8},
                              {"blocks", 1024, 16, 512, 16},
                              {"blocks", 4096, 8, 256, 2}}) {
    KernelDesign design{
        .geometry = resolve({.channels = one.channels, .taps = one.taps, .stations = 64, .samples = one.samples}),
        .fir = fir_named(one.fir),
        .items = one.items,
        .steps = one.steps};
    if (one.fir == "registers") design.radices = radices_of(one.channels, 16);
    if (design.fir->start_multiple > 1) design.resident = 1;  // on the matrix units
    if (one.fir == "blocks" && one.taps * one.channels > 4096) design.parts = 2;
    const KernelText text = text_of(design);
    EXPECT_LE(text.local_bytes, 227u << 10);
    EXPECT_NO_THROW({ EXPECT_FALSE(detail::compile_for(text.source, "sm_90").empty()); }) << text.source.text;
  }
}

TEST(BankKernels, BytesCompileForHopper) {
  if (!detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  for (const std::size_t channels : {256, 512, 4096}) {
    const Problem problem =
        complete({.channels = channels, .taps = 8, .stations = 64, .samples = Samples::int4, .centred = true});
    const auto designs = byte_designs(ridge::test::hopper(), problem, resolve(problem));
    ASSERT_FALSE(designs.empty());
    const KernelText text = text_of(designs.front());
    EXPECT_NE(text.source.text.find("byte_pair(v["), std::string::npos) << designs.front().fir->name;
    EXPECT_NO_THROW({ EXPECT_FALSE(detail::compile_for(text.source, "sm_90").empty()); }) << text.source.text;
  }
}

// Two spilled values cost a quarter of the speed (1024x16 on an H200: 0.518 of copy speed instead of 0.685).
TEST(BankKernels, AlternatingKeepsEverythingInRegisters) {
  if (!detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  for (const std::size_t channels : {512, 1024}) {
    const KernelDesign design{
        .geometry = resolve({.channels = channels, .taps = 16, .stations = 64, .samples = Samples::int8}),
        .fir = fir_named("alternating"),
        .items = 512,
        .steps = 8192 / channels,
        .resident = 1};
    const auto resources = detail::resources_for(text_of(design).source, "sm_90");
    ASSERT_EQ(resources.size(), 1u);
    EXPECT_EQ(resources[0].spilled_bytes, 0u) << channels << ": " << resources[0].registers;
  }
}

}  // namespace
}  // namespace ridge::filterbank::test
