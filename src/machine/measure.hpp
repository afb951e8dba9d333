// Measures a machine within a given time, divided among steps by weight.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <ridge/machine.hpp>

#include "machine/studies/studies.hpp"

namespace ridge::machine {

// A list of steps and the time for all of them. Each step gets its share of the remaining time when it starts, so that
// a step that overruns (a slow compiler) shortens the later ones instead of extending the total.
class Timetable {
 public:
  using Work = std::function<void(double seconds, const Tick& tick)>;

  void add(std::string what, double weight, Work work);
  void run(double seconds, const Progress& progress);

 private:
  struct Step {
    std::string what;
    double weight;
    Work work;
  };
  std::vector<Step> steps_;
};

// measure() on these devices, ignoring options.devices.
Profile measure_devices(const std::vector<Device>& devices, const MeasureOptions& options);

}  // namespace ridge::machine
