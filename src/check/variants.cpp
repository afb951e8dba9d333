#include "check/variants.hpp"

namespace ridge::check {

planner::Options some_variant(const std::vector<planner::Candidate>& candidates, std::uint64_t by_chance) {
  planner::Options options{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false};
  Random random(by_chance);
  std::vector<std::string> allowed;
  for (const planner::Candidate& candidate : candidates) {
    if (candidate.refusal.empty()) allowed.push_back(candidate.name());
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
