// The choice itself, for a device that is described rather than present: what tests and the public decide() call.
#pragma once
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/machine.hpp>
#include <ridge/plan.hpp>

namespace ridge::planner {

// By its name, by its variant, or by the family before a slash of the variant: "burtsev" calls "burtsev/D".
bool is_called(const Candidate& candidate, const std::string& wanted);

Decision select(const DeviceInfo& device, const machine::Ceilings& ceilings, const Problem& problem,
                const std::vector<Candidate>& candidates, const Options& options, const Measure& measure);

}  // namespace ridge::planner
