// Plans one axis and compiles the chosen route, alone or as a filter, for larger algorithms built around it.
#pragma once
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fft/device/route.hpp"

namespace ridge::fft::on_device {

std::shared_ptr<const CompiledRoute> planned_route(const Device& device, AxisProblem problem,
                                                   const planner::Options& options,
                                                   std::vector<planner::Decision>& decisions,
                                                   std::span<const RouteFamily* const> families = route_families());

// Transforms an axis, multiplies every value by a factor from a user function, and transforms it back, in place: one
// kernel if adjacent lines fit a work-group, else three.

struct SpectrumFilter {
  std::string function = {};  // Convolution::filter_function
  Buffer table = {};
  Address line = {};  // index of a line, per batch dimension of the problem; `point` is not used
};

// Returns null and the reason if the length does not allow it. The problem is complex and in place; its scale is
// applied once.
std::shared_ptr<const CompiledRoute> filtered_axis(const Device& device, const AxisProblem& problem,
                                                   const SpectrumFilter& filter, std::string& refusal);

// The same for boxes of contiguous lines, from one array to another or in place, with a table of one value per point of
// the lines. One kernel; null and the reason if the lines exceed a work-group.
std::shared_ptr<const CompiledRoute> filtered_boxes(const Device& device, const AxisProblem& problem,
                                                    const Buffer& spectrum, std::string& refusal);

}  // namespace ridge::fft::on_device
