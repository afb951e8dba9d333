// The choice itself, for a device that is described rather than present: what tests, decide() and choose() call.
#pragma once
#include <cstddef>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/machine.hpp>
#include <ridge/plan.hpp>

#include "plan/comparison.hpp"

namespace ridge::planner {

// By its name, by its variant, or by the family before a slash of the variant: "burtsev" calls "burtsev/D".
bool is_called(const Candidate& candidate, const std::string& wanted);

// Options::verify, or RIDGE_VERIFY set to anything but 0.
bool verifies(const Options& options);

// What a choice asks of the workload, by a candidate's index. Error and bad_alloc make the candidate lose with the
// message; other exceptions are defects and pass.
struct Questions {
  Measure seconds{};                                           // builds, warms up, times
  std::function<Comparison(std::size_t candidate)> compare{};  // none: nothing is verified
  // Those about to be timed, the best predicted first; before the first of them.
  std::function<void(std::span<const std::size_t> candidates)> prepare{};
};

// With verification no candidate is timed or wins, by wisdom and by the model neither, before its answer has been
// compared. A wrong one loses with that reason and a warning; with RIDGE_VERIFY=strict (tests) it is a std::logic_error
// that no choice around this one takes for a candidate's failure. What was chosen last time is kept where nothing is
// faster by more than noise.
Decision select(const DeviceInfo& device, const machine::Ceilings& ceilings, const Problem& problem,
                const std::vector<Candidate>& candidates, const Options& options, const Questions& ask);

}  // namespace ridge::planner
