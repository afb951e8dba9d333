// The designs of a pass that are worth trying on a device.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "fft/device/axis_problem.hpp"

namespace ridge::fft::on_device {

// A pass over the problem as it stands: sides, operators, digits; no radices yet.
PassDesign plain_pass(const AxisProblem& problem);

// Designs for the design's length, best first: radices, work-items, lines a group. At most `most`.
// `lines` forces the lines of a group, `most_held` the points in a work-item's registers; 0: as serves.
std::vector<PassDesign> fitted(const Device& device, const PassDesign& plain, std::size_t lines, std::size_t most,
                               std::string& refusal, std::size_t most_held = 0);

}  // namespace ridge::fft::on_device
