// Tests the studies and measure() in a shortened form. Figures are checked for plausibility, not for speed.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <ridge/machine.hpp>

#include "base/log.hpp"
#include "base/threads.hpp"
#include "device/backend.hpp"
#include "machine/busy.hpp"
#include "machine/device/probes.hpp"
#include "machine/host/probes.hpp"
#include "machine/measure.hpp"
#include "machine/studies/studies.hpp"
#include "support/devices.hpp"

namespace ridge::machine {
namespace {

// Every line has points with increasing x and positive, finite y.
void expect_sound(const std::vector<Sweep>& sweeps) {
  EXPECT_FALSE(sweeps.empty());
  for (const Sweep& sweep : sweeps) {
    SCOPED_TRACE(sweep.title);
    EXPECT_FALSE(sweep.title.empty() || sweep.x.empty() || sweep.y.empty());
    EXPECT_FALSE(sweep.lines.empty());
    std::set<std::string> names;
    for (const auto& line : sweep.lines) {
      EXPECT_TRUE(names.insert(line.name).second) << line.name << " appears twice";
      EXPECT_FALSE(line.points.empty()) << line.name;
      double before = -1;
      for (const auto& [x, y] : line.points) {
        EXPECT_GT(x, before) << line.name;
        EXPECT_TRUE(std::isfinite(y) && y > 0) << line.name << " at " << x << ": " << y;
        before = x;
      }
    }
  }
}

// A progress value that must rise to 1.
struct Ticks {
  double last = 0;
  Tick tick() {
    return [this](double share) {
      EXPECT_GT(share, last);
      last = share;
    };
  }
  ~Ticks() { EXPECT_NEAR(last, 1, 1e-9); }
};

TEST(HostStudies, CoresFromOneToAll) {
  Ticks ticks;
  const auto sweeps = study_host_cores(0.3, ticks.tick());
  expect_sound(sweeps);
  for (const Sweep& sweep : sweeps) {
    EXPECT_EQ(sweep.lines[0].points.front().first, 1);
    EXPECT_EQ(sweep.lines[0].points.back().first, static_cast<double>(base::hardware_threads()));
  }
}

TEST(BusyHost, WorksUntilItEnds) {
  for (const LoadKind kind : {LoadKind::copy, LoadKind::arithmetic}) {
    const BusyHost busy(kind);
    EXPECT_GT(host_flops_float(1, 0.01), 0);  // the measuring thread still gets CPU time
  }
  std::size_t ran = 0;
  base::parallel(1, [&](std::size_t, std::size_t) { ++ran; });
  EXPECT_EQ(ran, 1u) << "the pool is free again";
}

class DeviceStudies : public test::NeedsAccelerator<> {
 protected:
  void on_every_device(const std::function<void(DeviceBench&)>& body) {
    for (const Device& device : test::accelerators()) {
      SCOPED_TRACE(device.id() + ", " + device.info().name);
      DeviceBench bench(device, true);
      body(bench);
    }
  }
};

TEST_F(DeviceStudies, ShapesGiveSoundSweeps) {
  on_every_device([](DeviceBench& bench) {
    for (const auto study : {study_group_size, study_items, study_units}) {
      Ticks ticks;
      expect_sound(study(bench, 0.3, ticks.tick()));
    }
  });
}

TEST_F(DeviceStudies, AccessCoversSpacesPatternsAndStrides) {
  on_every_device([](DeviceBench& bench) {
    const auto sweeps = study_access(bench, 0.5, [](double) {});
    expect_sound(sweeps);
    ASSERT_EQ(sweeps.size(), 2u);  // cyclic and blocked
    for (const Sweep& sweep : sweeps) {
      EXPECT_GE(sweep.lines.size(), 6u);
      for (const auto& line : sweep.lines) {
        EXPECT_TRUE(line.points.size() == 11 || line.points.size() == 6) << line.name;  // every s, or every other one
        EXPECT_EQ(line.points.front().first, 1);
        EXPECT_EQ(line.points.back().first, 1024);
      }
    }
  });
}

TEST_F(DeviceStudies, ConcurrencyStaysBelowTheNumberOfQueues) {
  on_every_device([](DeviceBench& bench) {
    double most = 0;
    // Other processes can slow down the single launch that all figures are divided by.
    for (int attempt = 0; attempt < 5; ++attempt) {
      Ticks ticks;
      const auto sweeps = study_concurrency(bench, 0.5, ticks.tick());
      expect_sound(sweeps);
      most = 0;
      for (const auto& line : sweeps[0].lines)
        for (const auto& point : line.points) most = std::max(most, point.second);
      if (most < 32 * 4) break;
    }
    EXPECT_LT(most, 32 * 4);
  });
}

TEST_F(DeviceStudies, BusyDeviceWorksUntilItEnds) {
  on_every_device([](DeviceBench& bench) {
    for (const LoadKind kind : {LoadKind::copy, LoadKind::arithmetic}) const BusyDevice busy(bench, kind);
    bench.queue().finish();
  });
}

TEST(Measure, EveryDeviceGetsAllItsCeilings) {
  std::vector<double> shares;
  const Profile profile =
      measure({.devices = {}, .studies = false, .seconds = 4, .progress = [&](double share, const std::string& what) {
                 EXPECT_FALSE(what.empty());
                 shares.push_back(share);
               }});
  ASSERT_EQ(profile.devices.size(), devices().devices.size());
  EXPECT_TRUE(std::is_sorted(shares.begin(), shares.end()));
  EXPECT_EQ(shares.back(), 1);
  for (const DeviceProfile& device : profile.devices) {
    SCOPED_TRACE(device.id);
    const Ceilings& c = device.ceilings;
    EXPECT_TRUE(c.measured);
    EXPECT_GT(c.flops_float, 0);
    EXPECT_GT(c.launch_seconds, 0);
    ASSERT_FALSE(c.levels.empty());
    EXPECT_EQ(c.memory().name, "memory");
    for (const Level& level : c.levels) {
      EXPECT_TRUE(std::isfinite(level.all.read) && level.all.read > 0) << level.name;
      EXPECT_TRUE(std::isfinite(level.all.write) && level.all.write > 0) << level.name;
      EXPECT_TRUE(std::isfinite(level.all.copy) && level.all.copy > 0) << level.name;
    }
    if (profile.devices.size() > 1) {
      EXPECT_GT(c.copy_while_others_busy, 0);
      EXPECT_GT(c.flops_float_while_others_busy, 0);
    }
    if (device.id == "host") continue;
    const Transfers& t = c.transfers;
    std::vector<double> rates{t.upload_pageable, t.download_pageable, t.upload_pinned, t.download_pinned};
    const DeviceInfo& info = ridge::device(device.id).info();
    if (info.backend == Backend::cuda || info.shares_host_memory) {
      rates.push_back(t.upload_mapped);
      rates.push_back(t.download_mapped);
    }
    for (const double rate : rates) EXPECT_TRUE(std::isfinite(rate) && rate > 0) << rate;
    expect_sound(c.sweeps);
  }
}

// A driver that lists a device but cannot use it.
struct BrokenDevice : detail::DeviceState {
  BrokenDevice() {
    info.id = "opencl:7";
    info.name = "Broken Accelerator";
    info.backend = Backend::opencl;
  }
  std::unique_ptr<detail::Allocation> allocate(std::size_t, std::size_t, const BufferOptions&) override { broken(); }
  std::shared_ptr<detail::QueueState> queue() override { broken(); }
  std::shared_ptr<detail::ProgramState> compile(const KernelSource&) override { broken(); }
  [[noreturn]] static void broken() { throw Error(ErrorKind::device, "the driver is out of order"); }
};

TEST(Measure, ABrokenDeviceKeepsEstimatesAndLosesNothingElse) {
  std::vector<std::string> warnings;
  const auto before = base::on_warning([&](const std::string& message) { warnings.push_back(message); });
  const Profile profile = measure_devices({Device(std::make_shared<BrokenDevice>()), host()},
                                          {.devices = {}, .studies = true, .seconds = 1, .progress = {}});
  base::on_warning(before);
  ASSERT_EQ(profile.devices.size(), 2u);
  EXPECT_FALSE(profile.devices[0].ceilings.measured);
  EXPECT_GT(profile.devices[0].ceilings.flops_float, 0) << "estimated";
  EXPECT_TRUE(profile.devices[1].ceilings.measured);
  EXPECT_GT(profile.devices[1].ceilings.memory().all.copy, 0);
  const auto named = [](const std::string& warning) {
    return warning.find("opencl:7") != std::string::npos && warning.find("out of order") != std::string::npos;
  };
  EXPECT_EQ(std::count_if(warnings.begin(), warnings.end(), named), 1) << "reported once";
}

TEST(Measure, AWrongNameIsTheCallersMistake) {
  EXPECT_THROW(measure({.devices = {"cuda:99"}, .studies = false, .seconds = 1, .progress = {}}), Error);
}

}  // namespace
}  // namespace ridge::machine
