// Measuring a machine within a given time: steps with weights share it.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include <ridge/machine.hpp>

#include "machine/studies_all.hpp"

namespace ridge::machine {

// A list of steps and the time for all of them. Each gets its share of the time that is left when its turn comes, so
// that one that overran (a slow compiler) shortens the later ones instead of the day.
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

// measure() on these devices, whatever options.devices says.
Profile measure_devices(const std::vector<Device>& devices, const MeasureOptions& options);

}  // namespace ridge::machine
