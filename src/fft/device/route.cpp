#include "fft/device/route.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

namespace ridge::fft::on_device {

planner::Candidate described(const AxisProblem& problem, const std::string& variant, const std::vector<Step>& steps,
                             double efficiency) {
  planner::Candidate candidate{.variant = variant};
  std::string radices, items, lines;
  double moved = 0, operations = 0;
  for (const Step& step : steps) {
    const double all = static_cast<double>(step.lines) * static_cast<double>(problem.counts.back());
    const StepShare share = step.design->share(all);
    moved += share.bytes;
    operations += share.operations;
    if (share.radices.empty()) continue;
    const char* comma = radices.empty() ? "" : ",";
    radices += comma + share.radices;
    items += comma + share.items;
    lines += comma + share.lines;
  }
  candidate.parameters = {{"radices", radices}, {"items", items}, {"lines", lines}};
  candidate.cost = {.flops = operations,
                    .bytes = moved,
                    .launches = static_cast<double>(steps.size()),
                    .efficiency = std::clamp(efficiency, 0.01, 1.0),
                    .float64 = problem.float64};
  return candidate;
}

Route one_step(const AxisProblem& problem, std::shared_ptr<const StepDesign> design, std::uint64_t from_stride,
               std::uint64_t to_stride) {
  Route route;
  route.outer = problem.counts.back();
  route.steps.push_back({.design = std::move(design),
                         .from = Place::input,
                         .to = Place::output,
                         .lines = inner_lines(problem),
                         .from_stride = from_stride,
                         .to_stride = to_stride,
                         .load = problem.load,
                         .store = problem.store});
  return route;
}

Route refused(const std::string& variant, const std::string& why) {
  Route route;
  route.candidate.variant = variant;
  route.candidate.refusal = why;
  return route;
}

std::vector<KernelSource> kernels_of(const Route& route) {
  std::vector<KernelSource> all;
  for (const Step& step : route.steps) add_to(all, step.design->kernels());
  return all;
}

void add_to(std::vector<KernelSource>& all, std::vector<KernelSource> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

}  // namespace ridge::fft::on_device
