// Estimated ceilings of devices, and those of a saved profile.
#include "machine/roofline/roofline.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <fmt/format.h>

#include "base/log.hpp"
#include "machine/profile.hpp"

namespace {

namespace fs = std::filesystem;
using ridge::Backend;
using ridge::DeviceInfo;
using ridge::machine::Ceilings;
using ridge::machine::estimate;

DeviceInfo processor() {
  DeviceInfo info;
  info.id = "host";
  info.name = "processor";
  info.isa = "AVX2";
  info.limits.compute_units = 8;
  info.limits.memory = 1ull << 34;
  info.clock_ghz = 3;
  return info;
}

DeviceInfo board(const std::string& name, int architecture, std::size_t units, double clock) {
  DeviceInfo info;
  info.id = "cuda:0";
  info.name = name;
  info.limits.architecture = architecture;
  info.backend = Backend::cuda;
  info.limits.compute_units = units;
  info.limits.memory = 1ull << 36;
  info.clock_ghz = clock;
  return info;
}

void expect_usable(const Ceilings& ceilings) {
  EXPECT_FALSE(ceilings.measured);
  EXPECT_GT(ceilings.flops_float, 0);
  EXPECT_GT(ceilings.launch_seconds, 0);
  ASSERT_FALSE(ceilings.levels.empty());
  EXPECT_EQ(ceilings.memory().name, "memory");
  EXPECT_GT(ceilings.memory().all.copy, 0);
}

TEST(Estimate, HostFollowsCoresClockAndWidth) {
  DeviceInfo info = processor();
  const Ceilings base = estimate(info, info);
  expect_usable(base);
  EXPECT_DOUBLE_EQ(base.flops_float, 8 * 3e9 * 8 * 2 * 2);
  EXPECT_DOUBLE_EQ(base.flops_double, base.flops_float / 2);
  EXPECT_DOUBLE_EQ(base.flops_float_one, base.flops_float / 8);
  EXPECT_DOUBLE_EQ(base.memory().all.copy, 80e9);
  info.limits.compute_units = 64;
  EXPECT_DOUBLE_EQ(estimate(info, info).memory().all.copy, 100e9);
  info.clock_ghz = 0;
  info.isa = "NEON";
  EXPECT_DOUBLE_EQ(estimate(info, info).flops_float, 64 * 2.5e9 * 4 * 2 * 2);
  info.isa = "AVX3_DL";
  EXPECT_DOUBLE_EQ(estimate(info, info).flops_float, 64 * 2.5e9 * 16 * 2 * 2);
}

TEST(Estimate, GpuFollowsItsGeneration) {
  const Ceilings h200 = estimate(board("NVIDIA H200", 90, 132, 1.98), processor());
  expect_usable(h200);
  EXPECT_NEAR(h200.flops_float, 67e12, 1e12);  // the vendor's figure
  EXPECT_NEAR(h200.flops_double, 33.5e12, 1e12);
  EXPECT_GT(h200.memory().all.copy, 3e12);
  const Ceilings gaming = estimate(board("NVIDIA GeForce RTX 3060", 86, 28, 0), processor());
  EXPECT_DOUBLE_EQ(gaming.flops_float, 28 * 128 * 2 * 1.5e9);
  EXPECT_LT(gaming.flops_double, gaming.flops_float / 16);
  const Ceilings small = estimate(board("RTX A1000 Laptop GPU", 0, 16, 0), processor());
  EXPECT_DOUBLE_EQ(small.memory().all.copy, 1e12) << "an A1000 is no A100";
  DeviceInfo without_double = board("some GPU", 0, 16, 1);
  without_double.limits.float64 = false;
  EXPECT_EQ(estimate(without_double, processor()).flops_double, 0);
}

TEST(Estimate, PoclIsHalfTheHost) {
  DeviceInfo pocl;
  pocl.id = "opencl:0";
  pocl.name = "pthread-0x0d40";
  pocl.vendor = "Portable Computing Language";
  pocl.backend = Backend::opencl;
  pocl.shares_host_memory = pocl.runs_on_host_cores = true;
  const Ceilings host = estimate(processor(), processor()), ours = estimate(pocl, processor());
  expect_usable(ours);
  EXPECT_DOUBLE_EQ(ours.flops_float, host.flops_float / 2);
  EXPECT_DOUBLE_EQ(ours.memory().all.copy, host.memory().all.copy / 2);
}

class SavedCeilings : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / fmt::format("ridge-ceilings-{}", getpid());
    fs::create_directories(folder_);
    setenv("RIDGE_PROFILE", (folder_ / "machine.json").c_str(), 1);
    previous_ = ridge::base::on_warning([](const std::string&) {});
  }
  void TearDown() override {
    ridge::base::on_warning(previous_);
    unsetenv("RIDGE_PROFILE");
    fs::remove_all(folder_);
  }
  static void save(double flops, const std::string& fingerprint) {
    ridge::machine::Profile profile;
    profile.hardware = ridge::machine::hardware_key();
    profile.devices.resize(1);
    auto& device = profile.devices[0];
    device.id = "host";
    device.fingerprint = fingerprint;
    device.ceilings.measured = true;
    device.ceilings.flops_float = flops;
    device.ceilings.levels.resize(1);
    device.ceilings.levels[0].name = "memory";
    ridge::machine::save(profile);
  }
  fs::path folder_;
  ridge::base::WarningListener previous_;
};

TEST_F(SavedCeilings, TheSavedProfileIsUsedAndReadAgainWhenItChanges) {
  const ridge::Device host = ridge::host();
  expect_usable(ridge::machine::ceilings(host));
  save(12345, host.info().fingerprint());
  EXPECT_TRUE(ridge::machine::ceilings(host).measured);
  EXPECT_EQ(ridge::machine::ceilings(host).flops_float, 12345);
  save(54321, host.info().fingerprint());
  EXPECT_EQ(ridge::machine::ceilings(host).flops_float, 54321);
  save(54321, "another driver");
  expect_usable(ridge::machine::ceilings(host));
  std::ofstream(folder_ / "machine.json") << "damaged";
  expect_usable(ridge::machine::ceilings(host));
  fs::remove(folder_ / "machine.json");  // removed first: a file that is not a profile is never overwritten
  save(7, host.info().fingerprint());
  EXPECT_EQ(ridge::machine::ceilings(host).flops_float, 7);
  fs::remove(folder_ / "machine.json");
  expect_usable(ridge::machine::ceilings(host));
}

}  // namespace
