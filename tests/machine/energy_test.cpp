// Energy counters, on a simulated /sys.
#include <gtest/gtest.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>

#include <ridge/device.hpp>

#include "machine/energy.hpp"

namespace ridge::machine {
namespace {

namespace fs = std::filesystem;

class FakeSystem : public testing::Test {
 protected:
  FakeSystem() : system(fs::temp_directory_path() / ("ridge-energy-" + std::to_string(getpid()))) {
    fs::remove_all(system);
    fs::create_directories(system);
  }
  ~FakeSystem() override { fs::remove_all(system); }
  void put(const std::string& file, const std::string& text) {
    const fs::path path = system / "class" / file;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text << "\n";
  }
  EnergyCounter open() { return EnergyCounter::open(host(), system); }
  fs::path system;
};

TEST_F(FakeSystem, RaplAddsPackagesAndMemoryAndWraps) {
  for (const char* zone : {"0", "1"}) {
    put(std::string("powercap/intel-rapl:") + zone + "/name", std::string("package-") + zone);
    put(std::string("powercap/intel-rapl:") + zone + "/energy_uj", "1000000");
    put(std::string("powercap/intel-rapl:") + zone + "/max_energy_range_uj", "5000000");
  }
  put("powercap/intel-rapl:0:0/name", "core");  // part of the package: not counted twice
  put("powercap/intel-rapl:0:0/energy_uj", "0");
  put("powercap/intel-rapl:0:1/name", "dram");
  put("powercap/intel-rapl:0:1/energy_uj", "0");
  put("powercap/intel-rapl:0:1/max_energy_range_uj", "5000000");
  auto counter = open();
  ASSERT_TRUE(counter.readable()) << counter.why_not();
  EXPECT_EQ(counter.counter(), "RAPL package and memory");
  EXPECT_EQ(counter.joules(), 0);
  put("powercap/intel-rapl:0/energy_uj", "3000000");
  put("powercap/intel-rapl:0:0/energy_uj", "900000");
  put("powercap/intel-rapl:0:1/energy_uj", "500000");
  EXPECT_DOUBLE_EQ(counter.joules(), 2.5);
  put("powercap/intel-rapl:1/energy_uj", "250000");  // 4 J to the wrap, 0.25 J after it
  EXPECT_DOUBLE_EQ(counter.joules(), 2.5 + 4.25);
}

// Each run uses half a joule of the simulated counter.
TEST_F(FakeSystem, EnergyOfRepeatedRuns) {
  auto none = open();
  EXPECT_EQ(power_text(
                none, [] { FAIL() << "runs without a counter"; }, 1)
                .rfind("no energy counter: ", 0),
            0u);
  put("powercap/intel-rapl:0/name", "package-0");
  put("powercap/intel-rapl:0/max_energy_range_uj", "1000000000000");
  std::uint64_t used = 0;
  const auto spend = [&] { put("powercap/intel-rapl:0/energy_uj", std::to_string(used += 500000)); };
  spend();
  auto counter = open();
  ASSERT_TRUE(counter.readable()) << counter.why_not();
  const std::string text = power_text(counter, spend, 1e9, 0.02);
  EXPECT_NE(text.find(" W by RAPL package, 2 GFLOP/s per watt, 500 mJ per run"), std::string::npos) << text;
  EXPECT_EQ(power_text(
                counter, [] {}, 1e9, 0.001)
                .rfind("RAPL package has not changed", 0),
            0u);
}

TEST_F(FakeSystem, PowerSensorIsIntegratedOverTime) {
  put("hwmon/hwmon0/name", "amdgpu");  // a graphics card is not the host
  put("hwmon/hwmon0/power1_average", "300000000");
  put("hwmon/hwmon1/name", "power_meter");
  put("hwmon/hwmon1/power1_average", "20000000");
  auto counter = open();
  ASSERT_TRUE(counter.readable()) << counter.why_not();
  EXPECT_EQ(counter.counter(), "hwmon power_meter");
  EXPECT_DOUBLE_EQ(counter.watts(), 20);
  const auto start = std::chrono::steady_clock::now();
  const double before = counter.joules();
  std::this_thread::sleep_for(std::chrono::milliseconds(60));
  const double used = counter.joules() - before;
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  EXPECT_GE(used, 20 * 0.06 * 0.99);
  EXPECT_LE(used, 20 * seconds * 1.01);
}

TEST_F(FakeSystem, BatteryCountsOnlyWhileItDischarges) {
  put("power_supply/BAT0/status", "Full");
  put("power_supply/BAT0/current_now", "2000000");
  put("power_supply/BAT0/voltage_now", "12000000");
  EXPECT_FALSE(open().readable());
  put("power_supply/BAT0/status", "Discharging");
  auto counter = open();
  ASSERT_TRUE(counter.readable());
  EXPECT_DOUBLE_EQ(counter.watts(), 24);
}

TEST_F(FakeSystem, WithoutACounterTheReasonIsReported) {
  auto counter = open();
  EXPECT_FALSE(counter.readable());
  EXPECT_TRUE(counter.counter().empty());
  EXPECT_NE(counter.why_not().find("no RAPL"), std::string::npos) << counter.why_not();
  EXPECT_NE(counter.why_not().find("no power sensor"), std::string::npos) << counter.why_not();
  EXPECT_EQ(counter.joules(), 0);
  put("powercap/intel-rapl:0/name", "package-0");  // present, but energy_uj cannot be read
  EXPECT_NE(open().why_not().find("root only"), std::string::npos);
}

TEST_F(FakeSystem, InvalidFilesAreNoCounter) {
  put("powercap/intel-rapl:0/name", "package-0");
  put("powercap/intel-rapl:0/energy_uj", "a lot");
  put("hwmon/hwmon0/power1_input", "nan");
  put("hwmon/hwmon1/power1_input", "-4");
  EXPECT_FALSE(open().readable());
}

}  // namespace
}  // namespace ridge::machine
