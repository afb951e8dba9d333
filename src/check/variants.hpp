// Every variant gets its turn: half of the cases run one that chance picks, the others what a quick plan takes.
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
