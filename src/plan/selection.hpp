// Selects a candidate for a device given only by its description; choose(), decide() and tests call it.
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

// Matches the candidate's name, its variant, or the part of its variant before a slash: "burtsev" matches "burtsev/D".
bool is_called(const Candidate& candidate, const std::string& wanted);

// True if Options::verify is set or RIDGE_VERIFY is set to anything but 0.
bool verifies(const Options& options);

// Callbacks into the workload, by a candidate's index. Error and bad_alloc make the candidate lose with that message;
// other exceptions are defects and propagate.
struct Questions {
  Measure seconds{};                                           // builds, warms up and times a candidate
  std::function<Comparison(std::size_t candidate)> compare{};  // empty: nothing is verified
  // Called before the first timing, with the candidates to be timed, best prediction first, and before a candidate is
  // compared without being timed.
  std::function<void(std::span<const std::size_t> candidates)> prepare{};
  // Objective::energy: opens the power counter (Error if there is none), and measures a candidate's mean power.
  std::function<void()> open_meter{};
  std::function<double(std::size_t candidate)> watts{};
};

// With verification, a candidate is compared with the reference before it is timed or selected, also when it comes from
// wisdom or from the model. A wrong candidate loses with that reason and a warning; with RIDGE_VERIFY=strict (tests) it
// is a std::logic_error, which no enclosing selection treats as a candidate's failure. The previous winner is kept
// unless another candidate is faster by more than noise.
Decision select(const DeviceInfo& device, const machine::Ceilings& ceilings, const Problem& problem,
                const std::vector<Candidate>& candidates, const Options& options, const Questions& ask);

}  // namespace ridge::planner
