// Tests the transpose variants on every device that compiles kernels.
#include <gtest/gtest.h>

#include <set>

#include <fmt/format.h>

#include "device/backend.hpp"
#include "device/cuda/nvrtc.hpp"
#include "reference.hpp"
#include "support/devices.hpp"
#include "support/hopper.hpp"

namespace ridge::transpose::testing {
namespace {

using test::accelerators;

// Each distinct program costs a compilation. For element sizes other than 8 bytes, only one order and access mode of
// each tile is run: the other texts differ in lines that do not depend on the element size.
bool worth_running(const planner::Candidate& candidate, std::size_t bytes) {
  if (bytes == 8) return true;
  for (const auto& [name, value] : candidate.parameters) {
    if (name == "access" && value == "once") return false;
    if (name == "order" && (value == "bands" || value == "diagonal")) return false;
  }
  return true;
}

std::set<std::string> check_all(const Device& device, const std::vector<Problem>& problems, std::size_t bytes) {
  std::set<std::string> ran;
  for (const Problem& problem : problems) {
    const Layout layout = resolve(problem, bytes);
    for (const Entry& entry : list_variants(device, layout)) {
      if (!entry.candidate.refusal.empty() || !worth_running(entry.candidate, bytes)) continue;
      ran.insert(entry.candidate.variant);
      EXPECT_EQ(check(layout, *entry.build()), "")
          << entry.candidate.name() << " on " << device.id() << ": " << layout.key();
    }
  }
  return ran;
}

class DeviceVariants : public test::NeedsAccelerator<::testing::TestWithParam<std::size_t>> {
 protected:
  std::set<std::string> expected() const {
    if (GetParam() == 16) return {"naive", "tile_padded"};
    return {"naive", "tile_padded", "tile_vectorized"};
  }
};

TEST_P(DeviceVariants, PackedMatchTheLoop) {
  for (const Device& device : accelerators()) {
    EXPECT_EQ(check_all(device, packed_problems(), GetParam()), expected()) << device.id();
  }
}

TEST_P(DeviceVariants, StridedMatchTheLoop) {
  for (const Device& device : accelerators()) {
    EXPECT_EQ(check_all(device, strided_problems(), GetParam()), expected()) << device.id();
  }
}

TEST_P(DeviceVariants, InPlaceMatchTheLoop) {
  for (const Device& device : accelerators()) {
    EXPECT_EQ(check_all(device, in_place_problems(), GetParam()), expected()) << device.id();
  }
}

INSTANTIATE_TEST_SUITE_P(ElementBytes, DeviceVariants, ::testing::ValuesIn(kElementSizes));

TEST(DeviceVariant, RefuseWhatTheDeviceCannotHold) {
  const auto devices = accelerators();
  if (devices.empty()) GTEST_SKIP() << "no OpenCL and no CUDA device on this machine";
  bool refused_local = false;
  for (const planner::Candidate& candidate :
       candidates(devices.front(), {.rows = 64, .columns = 64, .in_place = true}, 8)) {
    refused_local |= candidate.refusal.find("local memory") != std::string::npos;
  }
  EXPECT_TRUE(refused_local) << "two tiles of 64 x 64 x 8 bytes do not fit into 48 KiB";
  for (const planner::Candidate& candidate : candidates(devices.front(), {.rows = 65, .columns = 64}, 8)) {
    if (candidate.variant == "tile_vectorized") {
      EXPECT_NE(candidate.refusal.find("multiples of 2"), std::string::npos) << candidate.refusal;
    }
  }
}

// Compiles the kernels that a CUDA device would get; needs no GPU. Every value of every parameter of every variant, for
// each element size: combinations of values add no text.
TEST(DeviceVariant, EveryKernelCompilesForHopper) {
  if (!detail::nvrtc_available()) GTEST_SKIP() << "no NVRTC on this machine";
  const Device hopper = test::hopper();
  std::set<std::string> seen, values;
  for (const std::size_t bytes : kElementSizes) {
    for (const bool in_place : {false, true}) {
      const Layout layout = resolve({.rows = 256, .columns = 256, .in_place = in_place}, bytes);
      for (const Entry& entry : list_variants(hopper, layout)) {
        if (!entry.candidate.refusal.empty() || !worth_running(entry.candidate, bytes)) continue;
        bool fresh = false;
        for (const auto& [name, value] : entry.candidate.parameters)
          fresh |= values.insert(fmt::format("{} {} {} {}={}", entry.candidate.variant, bytes, in_place, name, value))
                       .second;
        if (!fresh) continue;
        const KernelSource source = entry.kernels().front();
        std::string whole = source.text;
        for (const auto& [name, value] : source.defines) whole += name + "=" + value + "\n";
        if (!seen.insert(whole).second) continue;
        EXPECT_NO_THROW({ EXPECT_FALSE(detail::compile_for(source, "sm_90").empty()); })
            << entry.candidate.name() << "\n"
            << source.text;
      }
    }
  }
  EXPECT_GT(seen.size(), 25u);
}

}  // namespace
}  // namespace ridge::transpose::testing
