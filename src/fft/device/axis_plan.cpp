#include "fft/device/axis_plan.hpp"

#include <utility>

#include "fft/device/registry.hpp"
#include "fft/device/trials.hpp"

namespace ridge::fft::on_device {

std::shared_ptr<const CompiledRoute> planned_route(const Device& device, AxisProblem problem,
                                                   const planner::Options& options,
                                                   std::vector<planner::Decision>& decisions,
                                                   std::span<const RouteFamily* const> families) {
  normalize(problem);
  const std::vector<Route> routes = list_routes(device, problem, "", families);
  std::vector<planner::Entry<CompiledRoute>> entries;
  for (const Route& route : routes) {
    entries.push_back({route.candidate, [&] { return kernels_of(route); },
                       [&] { return std::make_shared<const CompiledRoute>(device, route, problem.float64); }});
  }
  AxisTrials trials(device, problem);
  auto chosen = planner::choose(device, planner_problem(problem), entries, options, trials, planner::Keep::last);
  decisions.push_back(std::move(chosen.decision));
  return chosen.winner;
}

}  // namespace ridge::fft::on_device
