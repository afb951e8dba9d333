// decide(): selects a candidate for a device by its measured or estimated ceilings.
#include <ridge/plan.hpp>

#include <ridge/machine.hpp>

#include "plan/selection.hpp"

namespace ridge::planner {

Decision decide(const Device& device, const Problem& problem, const std::vector<Candidate>& candidates,
                const Options& options, const Measure& measure) {
  return select(device.info(), machine::ceilings(device), problem, candidates, options, {.seconds = measure});
}

}  // namespace ridge::planner
