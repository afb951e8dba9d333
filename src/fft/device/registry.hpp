// Every way a device has to transform an axis.
#pragma once
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "fft/device/route.hpp"

namespace ridge::fft::on_device {

// In the order their routes are listed.
std::span<const RouteFamily* const> route_families();

// Every route, best expected first, refusals included; of families that are listed by name only those that `wanted`
// names.
std::vector<Route> list_routes(const Device& device, const AxisProblem& problem, const std::string& wanted = {},
                               std::span<const RouteFamily* const> families = route_families());

// The route of that name with its parameters, if the problem has it.
std::optional<Route> route_named(const Device& device, const AxisProblem& problem, const std::string& name,
                                 std::span<const RouteFamily* const> families = route_families());

}  // namespace ridge::fft::on_device
