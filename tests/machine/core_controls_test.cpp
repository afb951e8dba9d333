// Studies of cores on a recorded machine: four cores with two threads each, a sensor, a clock that can be set.
#include "machine/studies/studies.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

namespace ridge::machine {
namespace {

namespace fs = std::filesystem;

class CoreControls : public testing::Test {
 protected:
  CoreControls() : system(fs::temp_directory_path() / ("ridge-cores-" + std::to_string(getpid()))) {
    fs::remove_all(system);
    study = {.system = system, .allowed = {0, 1, 2, 3, 4, 5, 6, 7}, .load = [this](const std::vector<int>& cpus) {
               loads.push_back(cpus);
               put("class/thermal/thermal_zone0/temp", std::to_string(50000 + 1000 * static_cast<int>(loads.size())));
               return static_cast<double>(cpus.size()) * (clock() > 0 ? static_cast<double>(clock()) * 1e-6 : 1);
             }};
  }
  ~CoreControls() override { fs::remove_all(system); }
  void put(const std::string& file, const std::string& text) {
    fs::create_directories((system / file).parent_path());
    std::ofstream(system / file) << text << "\n";
  }
  void record_cores() {
    for (int cpu = 0; cpu < 8; ++cpu) {
      const std::string folder = "devices/system/cpu/cpu" + std::to_string(cpu) + "/";
      put(folder + "topology/thread_siblings_list", std::to_string(cpu % 4) + "," + std::to_string(cpu % 4 + 4));
      put(folder + "cpufreq/cpuinfo_min_freq", "1000000");
      put(folder + "cpufreq/cpuinfo_max_freq", "3000000");
      put(folder + "cpufreq/scaling_max_freq", "2500000");
    }
  }
  long clock(int cpu = 7) const {
    long value = 0;
    std::ifstream(system / "devices/system/cpu" / ("cpu" + std::to_string(cpu)) / "cpufreq/scaling_max_freq") >> value;
    return value;
  }
  fs::path system;
  CoreStudy study;
  std::vector<std::vector<int>> loads;
};

TEST_F(CoreControls, ARecordedMachineGivesTables) {
  record_cores();
  put("class/thermal/thermal_zone0/temp", "50000");
  EXPECT_NE(study_hyperthreads(study).find("2.00"), std::string::npos);
  EXPECT_EQ(loads, (std::vector<std::vector<int>>{{0, 1, 2, 3}, {0, 1, 2, 3, 4, 5, 6, 7}}));
  loads.clear();
  const std::string far = study_far_cores(study);
  EXPECT_EQ(loads, (std::vector<std::vector<int>>{{0, 1}, {0, 3}}));
  EXPECT_NE(far.find("52.0"), std::string::npos) << far;
  const std::string hot = study_temperature(study, 3);
  EXPECT_NE(hot.find("55.0"), std::string::npos) << hot;
  const std::string clocks = study_clock(study, 3);
  for (const char* row : {"1.00 GHz     8.00", "2.00 GHz    16.00", "3.00 GHz    24.00"})
    EXPECT_NE(clocks.find(row), std::string::npos) << clocks;
  for (int cpu = 0; cpu < 8; ++cpu) EXPECT_EQ(clock(cpu), 2500000);  // restored
}

TEST_F(CoreControls, AMachineWithoutControlsSaysSoInOneLine) {
  EXPECT_EQ(study_hyperthreads(study), "hyperthreads: not available: each of the 8 CPUs is a core of its own\n");
  EXPECT_EQ(study_temperature(study), "temperature: not available: no sensor in /sys/class/thermal\n");
  EXPECT_EQ(study_clock(study), "clock: not available: Linux shows no cpufreq limits of this machine\n");
  study.allowed = {0, 1};
  EXPECT_EQ(study_far_cores(study), "far cores: not available: needs 3 cores, this process may use 2\n");
  EXPECT_TRUE(loads.empty());
}

}  // namespace
}  // namespace ridge::machine
