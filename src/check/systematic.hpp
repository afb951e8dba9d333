// Checks listed transforms: those of a file, or every length, rank, kind, direction and precision up to a given length.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include "base/log.hpp"
#include "check/check.hpp"
#include "check/fft/problem_text.hpp"

namespace ridge::check {

// Compares one direction with the reference, using the variant of a quick plan.
Outcome check_transform(Draw& draw, const TextProblem& problem);

struct SystematicCell {
  std::string problem{};  // in the syntax of parse_problem()
  Outcome outcome{};
};
struct SystematicRow {
  std::string name{};  // "complex forward f32, n"
  std::vector<SystematicCell> cells{};
};

// Checks every problem once; defects of the library are outcomes, as in run().
std::vector<SystematicCell> check_problems(const Device& device, const std::vector<TextProblem>& problems,
                                           const base::Progress& progress = {});
// Lengths 1 to `most`: cell n - 1 of a row has length n along the axis that the row's name shows as n.
std::vector<SystematicRow> check_systematically(const Device& device, std::size_t most,
                                                const base::Progress& progress = {});

}  // namespace ridge::check
