// Designs of a pass that are worth trying on a device.
#pragma once
#include <cstddef>
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "fft/device/problem/axis_problem.hpp"

namespace ridge::fft::on_device {

// A pass over the problem without radices: sides, factors, batch dimensions.
PassDesign plain_pass(const AxisProblem& problem);

// At most `most` designs for the design's length, best first: radices, work-items, lines per group. `lines` forces the
// lines per group, `most_held` the points per work-item; 0: free choice.
std::vector<PassDesign> fitted(const Device& device, const PassDesign& plain, std::size_t lines, std::size_t most,
                               std::string& refusal, std::size_t most_held = 0);

}  // namespace ridge::fft::on_device
