// The choice itself, for a device that is described rather than present: what tests and the public decide() call.
#pragma once
#include <vector>

#include <ridge/device.hpp>
#include <ridge/machine.hpp>
#include <ridge/plan.hpp>

namespace ridge::planner {

Decision select(const DeviceInfo& device, const machine::Ceilings& ceilings, const Problem& problem,
                const std::vector<Candidate>& candidates, const Options& options, const Measure& measure);

}  // namespace ridge::planner
