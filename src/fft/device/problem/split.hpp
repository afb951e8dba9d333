// Splits a long line into passes over memory: N = N1 * N2 (* N3), columns first, a twiddle between passes.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fft/device/problem/axis_problem.hpp"

namespace ridge::fft::on_device {

// The passes of a complex transform whose length is the product of `factors`; all but the last end with a twiddle.
struct Split {
  std::vector<std::size_t> factors;  // one per pass
  std::size_t width = 16;            // adjacent lines per group
  std::size_t most_held = 0;         // points in a work-item's registers; 0: free choice
  Place from = Place::input, between = Place::scratch, to = Place::output;
  Values load = Values::complex, store = Values::complex;
  std::size_t load_valid = 0, store_valid = 0;
};
// Layout of the intermediate data.
struct SplitPlaces {
  std::uint64_t between = 0;  // complex elements per index of the last batch dimension
  bool apart = true;          // indices of the last batch dimension are stored separately
  std::uint64_t step = 0;     // elements between two such indices
};
// True if the passes can load and store boxes of the lines: points 0 to some other, or a box that is the same part of
// every line of the first or the last pass.
bool split_serves_boxes(const AxisProblem& problem, const std::vector<std::size_t>& factors);

// The designs of the passes; their radices are not yet chosen.
std::vector<PassDesign> split_designs(const AxisProblem& problem, const Split& split, SplitPlaces& places);

// Appends the steps, each with the radices and the group that fit best.
struct SplitResult {
  std::string refusal = {};
  std::uint64_t between = 0;  // as above
  bool apart = true;
};
SplitResult split_passes(const Device& device, const AxisProblem& problem, const Split& split,
                         std::vector<Step>& steps);

}  // namespace ridge::fft::on_device
