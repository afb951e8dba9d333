#include "check/variants.hpp"

#include <algorithm>
#include <limits>

namespace ridge::check {
namespace {

// Variants that evaluate the definition, with O(n^2) operations, would take a minute on a large problem. A variant is
// not drawn if it exceeds both limits: a number of operations, and a multiple of the cheapest variant's operations.
constexpr double kMuch = 1e9, kManyTimes = 1000;

double work_of(const planner::Candidate& candidate) {
  return candidate.cost.flops / std::max(candidate.cost.efficiency, 1e-6);
}

}  // namespace

planner::Options some_variant(const std::vector<planner::Candidate>& candidates, std::uint64_t by_chance) {
  planner::Options options{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false};
  Random random(by_chance);
  std::vector<std::string> allowed;
  double least = std::numeric_limits<double>::infinity();
  for (const planner::Candidate& candidate : candidates) {
    if (candidate.refusal.empty()) least = std::min(least, work_of(candidate));
  }
  for (const planner::Candidate& candidate : candidates) {
    const double work = work_of(candidate);
    if (candidate.refusal.empty() && !(work > kMuch && work > kManyTimes * least)) allowed.push_back(candidate.name());
  }
  if (!allowed.empty() && random.chance(0.5)) options.variant = random.one_of(allowed);
  return options;
}

std::string chosen_by(const std::vector<planner::Decision>& decisions) {
  std::string names;
  for (const planner::Decision& decision : decisions) {
    if (decision.winner >= decision.trials.size()) continue;
    if (!names.empty()) names += ", ";
    names += decision.trials[decision.winner].name;
  }
  return names;
}

}  // namespace ridge::check
