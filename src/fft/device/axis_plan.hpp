// Plans one axis and compiles the chosen route, for larger algorithms built around it.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "fft/device/compiled_route.hpp"
#include "fft/device/registry.hpp"

namespace ridge::fft::on_device {

std::shared_ptr<const CompiledRoute> planned_route(const Device& device, AxisProblem problem,
                                                   const planner::Options& options,
                                                   std::vector<planner::Decision>& decisions,
                                                   std::span<const RouteFamily* const> families = route_families());

}  // namespace ridge::fft::on_device
