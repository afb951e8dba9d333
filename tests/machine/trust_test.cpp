// A profile whose figures contradict each other, or that was measured on a busy machine, is reported and not saved.
#include "machine/trust.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <functional>
#include <limits>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <ridge/machine.hpp>

#include "base/threads.hpp"
#include "support/scratch.hpp"

namespace ridge::machine {
namespace {

// A profile of two cores without contradictions.
DeviceProfile sound() {
  DeviceProfile device{.id = "host", .name = "n", .fingerprint = "f", .ceilings = {}};
  Ceilings& c = device.ceilings;
  c.measured = true;
  c.flops_float = 160e9, c.flops_float_one = 83e9;
  c.flops_double = 80e9, c.flops_double_one = 41e9;
  c.levels = {{"L1", 65536, {200e9, 100e9, 200e9, 0, 0}, {100e9, 50e9, 100e9, 0, 0}},
              {"memory", 1u << 30, {20e9, 10e9, 18e9, 0, 0}, {12e9, 9e9, 11e9, 0, 0}}};
  c.copy_while_others_busy = 12e9, c.flops_float_while_others_busy = 80e9;
  return device;
}

TEST(Contradictions, AreNotFoundInAConsistentProfile) { EXPECT_TRUE(contradictions(sound()).empty()); }

TEST(Contradictions, NameBothFigures) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  const std::vector<std::pair<std::string, std::function<void(Ceilings&)>>> cases{
      {"host peak, float: 21.0 GFLOP/s with all cores, 83.0 GFLOP/s with one", [](auto& c) { c.flops_float = 21e9; }},
      {"host peak, double: 20.0 GFLOP/s with all cores, 41.0 GFLOP/s with one", [](auto& c) { c.flops_double = 20e9; }},
      {"host memory, copy: 3.00 GB/s with all cores, 11.0 GB/s with one", [](auto& c) { c.levels[1].all.copy = 3e9; }},
      {"host L1, read: 50.0 GB/s with all cores, 100 GB/s with one", [](auto& c) { c.levels[0].all.read = 50e9; }},
      {"host peak: 160 GFLOP/s in float, 300 GFLOP/s in double", [](auto& c) { c.flops_double = 300e9; }},
      {"host memory, copy: 18.0 GB/s with the other devices idle, 30.0 GB/s while they are busy",
       [](auto& c) { c.copy_while_others_busy = 30e9; }},
      {"host peak, float: 160 GFLOP/s with the other devices idle, 300 GFLOP/s while they are busy",
       [](auto& c) { c.flops_float_while_others_busy = 300e9; }},
      {"host peak: ", [&](auto& c) { c.flops_double = nan; }},
  };
  for (const auto& [text, spoil] : cases) {
    DeviceProfile device = sound();
    spoil(device.ceilings);
    const auto found = contradictions(device);
    ASSERT_FALSE(found.empty()) << text;
    EXPECT_EQ(found[0].substr(0, text.size()), text);
  }
}

TEST(Contradictions, AreNotLookedForInEstimates) {
  DeviceProfile device = sound();
  device.ceilings.flops_float = 1;
  device.ceilings.measured = false;
  EXPECT_TRUE(contradictions(device).empty());
}

TEST(RepeatedRuns, MustConfirmTheLargest) {
  EXPECT_TRUE(confirmed({100}));
  EXPECT_TRUE(confirmed({100, 85}));
  EXPECT_FALSE(confirmed({100, 70}));
  EXPECT_TRUE(confirmed({60, 100, 95})) << "the first run was disturbed";
  EXPECT_FALSE(confirmed({60, 100, 61})) << "only one run was undisturbed";
  EXPECT_FALSE(confirmed({100, std::numeric_limits<double>::quiet_NaN()}));
}

TEST(OtherLoad, IsInTextFromAFifthOfTheCpus) {
  EXPECT_EQ(load_text(0.3, 2), "");
  EXPECT_EQ(load_text(1.75, 2), "other processes used 1.8 of 2 CPUs during the measurement");
}

TEST(OtherLoad, CountsTicksOfTheCpusThisProcessMayUse) {
  const test::ScratchFolder folder;
  const std::string file = folder / "stat";
  const int mine = base::allowed_cores().front();
  const double tick = 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK));
  const auto write = [&](double seconds) {
    std::ofstream(file) << fmt::format(
        "cpu  1 2 3\ncpu{} {:.0f} 0 0 900 0 0 0 {:.0f} 0 0\ncpu99999 500 0 0 0 0 0 0 0\n", mine, seconds / 2 / tick,
        seconds / 2 / tick);
  };
  write(100);
  const OtherLoad load(file);
  EXPECT_EQ(load.cpus(), 0) << "the clock ticks are too coarse in the first half second";
  std::this_thread::sleep_for(std::chrono::milliseconds(600));
  write(5000);
  EXPECT_GT(load.cpus(), 1) << "user time and stolen time of others";
  std::ofstream(file) << "nonsense\n";
  EXPECT_EQ(load.cpus(), 0);
  EXPECT_EQ(OtherLoad(folder / "missing").cpus(), 0);
}

// Child processes that compute until they are killed.
class Spinners {
 public:
  explicit Spinners(std::size_t count) {
    for (std::size_t i = 0; i < count; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        for (std::atomic<unsigned> turn{0};;) turn.fetch_add(1, std::memory_order_relaxed);
      }
      if (child > 0) children_.push_back(child);
    }
  }
  ~Spinners() {
    for (const pid_t child : children_) kill(child, SIGKILL);
    for (const pid_t child : children_) waitpid(child, nullptr, 0);
  }
  Spinners(const Spinners&) = delete;
  Spinners& operator=(const Spinners&) = delete;
  std::size_t count() const { return children_.size(); }

 private:
  std::vector<pid_t> children_;
};

TEST(BusyMachine, ItsProfileIsReportedAndNotSaved) {
  if (!std::ifstream("/proc/stat")) GTEST_SKIP() << "the system does not report its load";
  const test::ScratchFolder folder;
  const std::string file = folder / "machine.json";
  const test::ScopedEnvironment named("RIDGE_PROFILE", file);
  const Spinners others(2 * base::allowed_cores().size());
  ASSERT_GT(others.count(), 0u);
  const Profile profile = measure({.devices = {"host"}, .studies = false, .seconds = 2, .progress = {}});
  ASSERT_FALSE(profile.doubts.empty());
  EXPECT_NE(profile.doubts.back().find("other processes used "), std::string::npos) << profile.doubts.back();

  const test::Warnings warnings;
  EXPECT_FALSE(save(profile));
  EXPECT_FALSE(std::ifstream(file).good()) << "nothing was written";
  ASSERT_EQ(warnings.messages.size(), 1u);
  EXPECT_NE(warnings.messages[0].find("is not saved: "), std::string::npos) << warnings.messages[0];
  EXPECT_NE(warnings.messages[0].find("other processes used "), std::string::npos) << warnings.messages[0];
}

}  // namespace
}  // namespace ridge::machine
