// A long line as passes over memory: N = N1 * N2 (* N3), columns first, a twiddle between.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "fft/device/axis_problem.hpp"

namespace ridge::fft::on_device {

// The passes of a complex transform of `factors`' product, each but the last followed by its twiddle.
struct Split {
  std::vector<std::size_t> factors;  // a pass each
  std::size_t width = 16;            // lines side by side in a group
  std::size_t most_held = 0;         // points in a work-item's registers; 0: as serves
  Place from = Place::input, between = Place::scratch, to = Place::output;
  Values load = Values::complex, store = Values::complex;
  std::size_t load_valid = 0, store_valid = 0;
};
// What lies between the passes.
struct SplitPlaces {
  std::uint64_t between = 0;  // complex elements for each value of the last digit
  bool apart = true;          // what belongs to different values of the last digit lies apart
  std::uint64_t step = 0;     // elements from one of them to the next
};
// The passes without radices yet.
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
