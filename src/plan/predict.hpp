// Predicts the time of a candidate from the machine model, and measures the power of a device.
#pragma once
#include <functional>
#include <memory>
#include <string>

#include <ridge/device.hpp>
#include <ridge/machine.hpp>
#include <ridge/plan.hpp>

#include "machine/energy.hpp"

namespace ridge::planner {

struct Prediction {
  double seconds = 0;
  std::string bound;  // the limiting ceiling: "memory copy 4.20 TB/s", "float peak 67.1 TFLOP/s"
};

// max(flops / peak / efficiency, bytes / bandwidth / memory efficiency) + launches x launch latency. The memory
// efficiency is the efficiency unless the candidate has one of its own. The bandwidth is that of the smallest
// memory level that holds the problem. A candidate with t threads has at most t times the figures of one core. An
// unknown ceiling (0) does not limit.
Prediction predict(const machine::Ceilings& ceilings, const Problem& problem, const Cost& cost);

// The same for the useful work alone: a lower bound for every variant.
Prediction roof(const machine::Ceilings& ceilings, const Problem& problem, bool float64);

// Mean power of a device while a candidate runs, for plans that save energy.

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
