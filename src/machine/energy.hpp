// Reads the energy that a device has used, if the machine has a counter for it.
#pragma once
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <ridge/device.hpp>
#include <ridge/machine.hpp>

namespace ridge::machine {

// Host: RAPL, else a power sensor (hwmon), else a discharging battery. NVIDIA GPUs: NVML.
//
//   auto counter = EnergyCounter::open(device);
//   const double before = counter.joules();
//   work();
//   if (counter.readable()) use(counter.joules() - before);
class EnergyCounter {
 public:
  // Never fails: without a counter, readable() is false and why_not() gives the reason. `system` is the mount point of
  // /sys.
  static EnergyCounter open(const Device& device, const std::filesystem::path& system = "/sys");

  bool readable() const { return source_ != nullptr; }
  const std::string& counter() const { return counter_; }  // "RAPL package", "NVML", "hwmon ..."
  const std::string& why_not() const { return why_not_; }

  // Joules since open(). Counters wrap around (RAPL about every half hour under load), so call it at least that often.
  double joules();
  double watts();  // current power; with an energy counter only, the mean of the last few hundredths of a second

  struct Source {
    virtual ~Source() = default;
    virtual double joules() = 0;
    virtual double watts() = 0;
  };

 private:
  std::unique_ptr<Source> source_;
  std::string counter_, why_not_;
};

// Runs `run`, which waits for its end, for about `seconds` and describes its energy: "86 W by RAPL package, 1.25
// GFLOP/s per watt, 3.1 mJ per run". Without a counter: one line with the reason.
std::string power_text(EnergyCounter& counter, const std::function<void()>& run, double flops, double seconds = 1);

}  // namespace ridge::machine
