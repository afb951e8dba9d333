// Tests power by the CUDA kernels, on a GPU or, with RIDGE_SLOW, emulated; and their resources as NVRTC compiles them.
#include <string_view>

#include <gtest/gtest.h>
#include <ridge/filterbank.hpp>

#include "device/cuda/nvrtc.hpp"
#include "filterbank/device/fir/fir.hpp"
#include "filterbank/device/separate.hpp"
#include "on_devices.hpp"
#include "support.hpp"
#include "support/devices.hpp"

namespace ridge::filterbank::test {
namespace {

using namespace on_device;

struct PowerCase {
  const char* name;
  std::string_view fir;
  std::size_t channels, taps;
  Products products;
  std::size_t times, spectra;
  Samples samples = Samples::int8;
  friend void PrintTo(const PowerCase& each, std::ostream* out) { *out << each.name; }
};

class PowerKernels : public testing::TestWithParam<PowerCase> {};

TEST_P(PowerKernels, EqualTheDetectorForAnyPieces) {
  const PowerCase& one = GetParam();
  const Problem problem = complete({.channels = one.channels, .taps = one.taps, .stations = 2, .samples = one.samples});
  const Detection detection{.products = one.products, .times = one.times, .channels = 1};
  const std::vector<Device> devices = of_cuda();
  if (devices.empty()) GTEST_SKIP() << "no CUDA device; RIDGE_SLOW=1 emulates one";
  for (const Device& device : devices) {
    const auto bank = fused_power(device, problem, resolve(problem), one.products, one.times);
    ASSERT_TRUE(bank != nullptr);
    EXPECT_EQ(bank->design().fir->name, one.fir);
    const Bytes bytes = noise(problem, one.channels * one.spectra);
    const auto wanted = power_of(host(), problem, detection, bytes, bytes.size());
    const auto got = power_of(device, problem, detection, bytes, bytes.size());
    ASSERT_FALSE(wanted.empty());
    ASSERT_EQ(got.size(), wanted.size());
    for (std::size_t product = 0; product < product_count(one.products, 2); ++product) {
      EXPECT_LT(product_error(problem, one.products, product, got, wanted), 2e-6)
          << "product " << product << " on " << device.id();
    }
    EXPECT_EQ(got, power_of(device, problem, detection, bytes, bytes.size() / 3 + 1)) << device.id();
  }
}

const PowerCase kPowerCases[] = {
    {"64_total_short", "warp_specialized", 64, 4, Products::total, 64, 200},
    {"64_stokes", "warp_specialized", 64, 4, Products::stokes, 128, 300},
    {"128_powers", "warp_specialized", 128, 13, Products::powers, 128, 300, Samples::int4},
    {"256_total", "warp_specialized", 256, 16, Products::total, 64, 150},
    {"256_stokes_int16", "warp_specialized", 256, 4, Products::stokes, 32, 100, Samples::int16},
    {"64_moments", "warp_specialized", 64, 4, Products::moments, 128, 300},
    {"256_moments", "warp_specialized", 256, 16, Products::moments, 64, 150},
    {"512_moments", "stacked", 512, 16, Products::moments, 64, 150},
    {"512_moments_of_short_sums", "stacked", 512, 11, Products::moments, 16, 70},
    {"512_moments_in_local_memory", "blocks", 512, 8, Products::moments, 32, 70},
    {"1024_moments", "blocks", 1024, 16, Products::moments, 32, 70},
    {"1024_moments_in_registers", "blocks", 1024, 4, Products::moments, 16, 40},
    {"2048_moments", "blocks", 2048, 16, Products::moments, 32, 70},
    {"4096_moments", "blocks", 4096, 4, Products::moments, 64, 150},
    {"4096_moments_int16", "blocks", 4096, 4, Products::moments, 16, 40, Samples::int16},
    {"512_total", "stacked", 512, 16, Products::total, 32, 100},
    {"512_powers", "stacked", 512, 11, Products::powers, 48, 110},
    {"512_total_long", "blocks", 512, 20, Products::total, 32, 100},
    {"1024_powers", "blocks", 1024, 9, Products::powers, 16, 70},
    {"1024_total_long", "blocks", 1024, 32, Products::total, 32, 70},
    {"2048_total", "blocks", 2048, 16, Products::total, 32, 70},
    {"4096_powers", "blocks", 4096, 8, Products::powers, 16, 40},
    {"4096_total_int4", "blocks", 4096, 8, Products::total, 16, 40, Samples::int4},
};
INSTANTIATE_TEST_SUITE_P(Cases, PowerKernels, testing::ValuesIn(kPowerCases),
                         [](const auto& each) { return "channels_" + std::string(each.param.name); });

// Needs no GPU: compiles the kernels for CUDA and checks that sums in registers cause no spills.
TEST(PowerKernelsForHopper, CompileAndSpillLittle) {
  if (!detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  for (const auto& [channels, taps, products, most] : {std::tuple{256, 16, Products::total, 0},
                                                       {64, 16, Products::stokes, 0},
                                                       {256, 16, Products::moments, 0},
                                                       {512, 16, Products::moments, 64},
                                                       {512, 8, Products::moments, 0},
                                                       {1024, 4, Products::moments, 0},
                                                       {1024, 16, Products::moments, 0},
                                                       {4096, 4, Products::moments, 256},
                                                       {512, 16, Products::total, 32},
                                                       {1024, 16, Products::total, 0}}) {
    const Problem problem = complete({.channels = static_cast<std::size_t>(channels),
                                      .taps = static_cast<std::size_t>(taps),
                                      .stations = 64,
                                      .samples = Samples::int8});
    const auto design = power_design(ridge::test::hopper(), problem, resolve(problem), products, 64);
    ASSERT_TRUE(design.has_value());
    const auto resources = detail::resources_for(text_of(*design).source, "sm_90");
    ASSERT_EQ(resources.size(), 1u);
    EXPECT_LE(resources[0].spilled_bytes, most) << channels << ": " << resources[0].registers;
  }
}

// bench/gpu_machine.sh excludes kernels from racecheck by their name.
TEST(PowerKernelsForHopper, KernelsWithSplitBarriersHaveTheirOwnName) {
  std::size_t split = 0, all = 0;
  for (const auto& [channels, taps] : {std::pair{64, 16}, {256, 16}, {512, 8}, {512, 16}, {1024, 16}, {4096, 4}}) {
    const Problem problem = complete(
        {.channels = static_cast<std::size_t>(channels), .taps = static_cast<std::size_t>(taps), .stations = 64});
    for (const KernelDesign& spectra : fused_designs(ridge::test::hopper(), problem, resolve(problem))) {
      for (const KernelDesign& design : {spectra, as_power(spectra, Products::powers, 64).value_or(spectra)}) {
        const KernelText text = text_of(design);
        const bool arrives = text.source.text.find("MBARRIER_ARRIVE(full") != std::string::npos ||
                             text.source.text.find("READ_BARRIER_ARRIVE(points") != std::string::npos ||
                             text.source.text.find("READ_BARRIER_ARRIVE(read_barrier)") != std::string::npos;
        EXPECT_EQ(text.kernel, std::string(arrives ? kSplitKernelName : kKernelName)) << text.source.name;
        EXPECT_NE(text.source.text.find(std::string("void ") + text.kernel + "("), std::string::npos);
        split += arrives ? 1 : 0, ++all;
      }
    }
  }
  EXPECT_GT(split, 0u);
  EXPECT_GT(all, split);
}

}  // namespace
}  // namespace ridge::filterbank::test
