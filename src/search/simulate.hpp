// Pulses as they are added to simulated noise, and the boxcars with their theoretical S/N.
#pragma once
#include <cstddef>
#include <vector>

#include <ridge/search.hpp>

namespace ridge::search {

struct PlacedPulse {
  double samples = 1;                          // intrinsic width
  std::vector<double> begin = {}, smear = {};  // per channel, in samples
  double first = 0, last = 0;                  // samples that the pulse touches in any channel
  double box_begin = 0;                        // boxcar at the highest frequency that has the pulse's S/N
  std::size_t box_samples = 1;
  float amplitude = 0;  // in units of sigma, before rounding to bits

  // Share of a sample of a channel that the pulse fills.
  double share(std::size_t channel, double sample) const;
};
PlacedPulse placed_pulse(const Simulation& simulation, const Pulse& pulse);

}  // namespace ridge::search
