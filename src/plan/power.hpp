// Mean power of a device while a candidate runs, for plans that save energy.
#pragma once
#include <functional>
#include <memory>

#include <ridge/device.hpp>
#include <ridge/plan.hpp>

#include "machine/energy.hpp"

namespace ridge::planner {

class PowerMeter {
 public:
  // Reads Options::joules if it is set, else the device's counter. Error{unavailable} if the device has none.
  void open(const Device& device, const Options& options);
  // Watts while `run` is repeated for half a second or more: NVML's counter changes a few times per second.
  double watts(const std::function<void()>& run) const;

 private:
  std::shared_ptr<machine::EnergyCounter> counter_{};
  std::function<double()> joules_{};
};

}  // namespace ridge::planner
