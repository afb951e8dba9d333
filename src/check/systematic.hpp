// Transforms that are listed, not drawn: those of a file, and every length, rank, kind, direction and precision up to a
// length.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "base/progress.hpp"
#include "check/check.hpp"
#include "check/problem_text.hpp"

namespace ridge::check {

// One direction against the reference, by what a quick plan takes.
Outcome check_transform(Draw& draw, const TextProblem& problem);

struct SystematicCell {
  std::string problem{};  // as parse_problem() reads it
  Outcome outcome{};
};
struct SystematicRow {
  std::string name{};  // "complex forward f32, n"
  std::vector<SystematicCell> cells{};
};

// Every problem once; defects of ours are outcomes, as in run().
std::vector<SystematicCell> check_problems(const Device& device, const std::vector<TextProblem>& problems,
                                           const base::Progress& progress = {});
// Lengths 1 to `most`: cell n - 1 of a row has length n along the axis that the row's name shows as n.
std::vector<SystematicRow> check_systematically(const Device& device, std::size_t most,
                                                const base::Progress& progress = {});

}  // namespace ridge::check
