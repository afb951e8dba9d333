// Registry of the routes by which a device transforms an axis.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fft/device/route.hpp"

namespace ridge::fft::on_device {

// Families in the order in which their routes are listed.
std::span<const RouteFamily* const> route_families();

// All routes, best expected first, refusals included. Families that are listed by name only contribute what `wanted`
// names.
std::vector<Route> list_routes(const Device& device, const AxisProblem& problem, const std::string& wanted = {},
                               std::span<const RouteFamily* const> families = route_families());

// The route with that name and parameters, if the problem has it.
std::optional<Route> route_named(const Device& device, const AxisProblem& problem, const std::string& name,
                                 std::span<const RouteFamily* const> families = route_families());

}  // namespace ridge::fft::on_device
