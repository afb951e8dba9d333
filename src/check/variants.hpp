// Draws the variant of a case: half of the cases run a random one, the others that of a quick plan.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include <ridge/plan.hpp>

#include "check/random.hpp"

namespace ridge::check {

planner::Options some_variant(const std::vector<planner::Candidate>& candidates, std::uint64_t by_chance);

std::string chosen_by(const std::vector<planner::Decision>& decisions);  // "tile(side=32), simd"

}  // namespace ridge::check
