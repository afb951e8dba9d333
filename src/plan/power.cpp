#include "plan/power.hpp"

#include <cmath>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/clock.hpp"

namespace ridge::planner {

void PowerMeter::open(const Device& device, const Options& options) {
  joules_ = options.joules;
  if (joules_) return;
  counter_ = std::make_shared<machine::EnergyCounter>(machine::EnergyCounter::open(device));
  if (!counter_->readable())
    throw Error(ErrorKind::unavailable,
                fmt::format("planning by energy needs a power counter, {} has none ({}): plan by time", device.id(),
                            counter_->why_not()));
  joules_ = [counter = counter_] { return counter->joules(); };
}

double PowerMeter::watts(const std::function<void()>& run) const {
  constexpr double kSeconds = 0.5;
  run();
  const double before = joules_(), start = base::now();
  double seconds = 0;
  do {
    run();
    seconds = base::now() - start;
  } while (seconds < kSeconds);
  const double used = joules_() - before;
  if (!std::isfinite(used) || used <= 0)
    throw Error(ErrorKind::unavailable, fmt::format("the power counter advanced by {} J in {:.2f} s", used, seconds));
  return used / seconds;
}

}  // namespace ridge::planner
