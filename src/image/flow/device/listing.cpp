// Lists the flow designs for a device, with refusals and expected cost.
#include <fmt/format.h>

#include "base/text.hpp"
#include "image/flow/device/variant.hpp"
#include "image/flow/weights.hpp"

namespace ridge::image::on_device {
namespace {

constexpr double kFarthest = 128.0 * 128 * 3;  // largest squared colour distance with signed bytes
constexpr double kMostExponent = 120;          // of a float's power of two; the rest is headroom for the sums

std::string smooth_name(const FlowDesign& design) {
  switch (design.smooth) {
    case Smooth::matrix:
      return "matrix";
    case Smooth::tile:
      return "tile";
    case Smooth::plain:
      break;
  }
  return "plain";
}

std::string search_name(Search search) {
  switch (search) {
    case Search::blocks:
      return "blocks";
    case Search::singles:
      return "singles";
    case Search::plain:
      break;
  }
  return "plain";
}

// Number of registers that a work-item needs for its values during the search.
int search_registers(const FlowParameters& p, Search search) {
  const int side = 2 * p.averaging_radius + 1, across = 2 * p.max_flow + 1;
  const int single = 2 * side * side + side * across + side + across;
  return search == Search::blocks ? std::max(single, 4 * side * side + 4 * across + 2 * side + across) : single;
}

std::string search_refusal(const Device& device, const FlowParameters& p, Search search) {
  if (search == Search::plain) return "";
  constexpr int kMost = 190;  // of 255; the rest is for addresses and bounds
  const int wanted = search_registers(p, search);
  if (wanted > kMost) {
    return fmt::format("a window of radius {} and a reach of {} need {} registers per work-item, the limit is {}",
                       p.averaging_radius, p.max_flow, wanted, kMost);
  }
  if (!device.limits().private_arrays_in_registers)
    return "needs private arrays in registers, the device keeps them in memory";
  return "";
}

std::string smooth_refusal(const Device& device, const FlowDesign& design, const FilterShape& filter) {
  const Limits& limits = device.limits();
  const SmoothLaunch launch = smooth_launch(design, filter);
  constexpr std::size_t kBesides = 1024;  // bytes of local arrays outside the block
  if (launch.local_bytes + (design.smooth == Smooth::matrix ? kBesides : 0) > limits.local_memory) {
    return fmt::format("a tile for radius {} needs {} of local memory, the device has {}", filter.radius,
                       base::human_bytes(static_cast<double>(launch.local_bytes)),
                       base::human_bytes(static_cast<double>(limits.local_memory)));
  }
  if (launch.items_x * launch.items_y > limits.work_group) {
    return fmt::format("needs work-groups of {}, the device allows {}", launch.items_x * launch.items_y,
                       limits.work_group);
  }
  if (design.smooth != Smooth::matrix) return "";
  if (!limits.matrix_units) return "needs matrix instructions, the device has none";
  const double exponent = -2 * double{flow::slope_of(filter.sigma_color)} * kFarthest;
  if (exponent > kMostExponent) {
    return fmt::format("sigma_color {} gives weights of 2^{:.0f}, beyond the range of floats", filter.sigma_color,
                       exponent);
  }
  return "";
}

std::string refusal(const Device& device, const FlowProblem& problem, const FlowDesign& design) {
  if (std::string why = search_refusal(device, problem.parameters, design.search); !why.empty()) return why;
  for (const FilterShape& filter : {filter_between(problem.parameters), filter_at_the_end(problem.parameters)}) {
    if (std::string why = smooth_refusal(device, design, filter); !why.empty()) return why;
  }
  const std::uint64_t largest = FlowPipeline::largest_buffer(problem, design);
  const std::uint64_t all = FlowPipeline::workspace_bytes(problem, design) + 2 * FlowPipeline::pyramid_bytes(problem);
  const Limits& limits = device.limits();
  if ((limits.allocation != 0 && largest > limits.allocation) || (limits.memory != 0 && all > limits.memory)) {
    return fmt::format("needs {} of memory, {} in one buffer; the device has {} and allows {} per buffer",
                       base::human_bytes(static_cast<double>(all)), base::human_bytes(static_cast<double>(largest)),
                       base::human_bytes(static_cast<double>(limits.memory)),
                       base::human_bytes(static_cast<double>(limits.allocation)));
  }
  return "";
}

// Operations of search and filter, counted as the plain loops perform them: 10 per product of the search, 16 per
// weight.
double work_of(const FlowProblem& problem) {
  const FlowParameters& p = problem.parameters;
  const double window = (2.0 * p.averaging_radius + 1) * (2.0 * p.averaging_radius + 1);
  const double reach = (2.0 * p.max_flow + 1) * (2.0 * p.max_flow + 1);
  double flops = 0;
  const std::vector<FlowPipeline::Level> levels = FlowPipeline::levels_of(problem);
  for (std::size_t k = 0; k < levels.size(); ++k) {
    const double pixels = static_cast<double>(levels[k].cells());
    const int radius = k == 0 ? p.postprocess_window : p.upscale_averaging_radius;
    const double searched =
        k == 0 && levels.size() > 2 ? 0.5 : 1;  // an assumption: the actual share depends on the pictures
    flops += 2 * searched * pixels * window * reach * 10;
    flops += (k == 0 ? 1 : 2) * pixels * (2.0 * radius + 1) * (2.0 * radius + 1) * 16;
  }
  return flops;
}

// Expected shares of the arithmetic ceiling, in operations of the plain loops.
double efficiency_of(const FlowDesign& design) {
  const double smooth = design.smooth == Smooth::matrix ? 1.0 : design.smooth == Smooth::tile ? 0.7 : 0.3;
  const double search = design.search == Search::blocks ? 1.0 : design.search == Search::singles ? 0.6 : 0.2;
  const double tuned = design.polynomial >= 6 ? 1.0 : 0.95,
               tall = design.smooth == Smooth::tile && design.rows > 2 ? 0.95 : 1;
  return 0.9 * smooth * search * tuned * tall;
}

}  // namespace

std::vector<FlowDesign> flow_designs() {
  std::vector<FlowDesign> designs;
  for (const int polynomial : {6, 7, 4, 0}) {
    designs.push_back({.smooth = Smooth::matrix, .polynomial = polynomial, .parts = 6});
  }
  designs.push_back({.smooth = Smooth::matrix, .polynomial = 7, .parts = 6, .down = 2});
  for (const int polynomial : {7, 0}) {
    designs.push_back({.smooth = Smooth::matrix, .polynomial = polynomial, .parts = 4});
  }
  for (const int rows : {2, 4}) designs.push_back({.smooth = Smooth::tile, .rows = rows});
  designs.push_back({.search = Search::singles, .smooth = Smooth::tile, .rows = 2});
  designs.push_back({.search = Search::plain, .smooth = Smooth::tile, .rows = 2});
  designs.push_back({.search = Search::blocks, .smooth = Smooth::plain});
  designs.push_back({.search = Search::plain, .smooth = Smooth::plain});
  return designs;
}

planner::Candidate candidate_of(const Device& device, const FlowProblem& problem, const FlowDesign& design) {
  planner::Candidate candidate{.variant = "device_" + smooth_name(design)};
  auto& parameters = candidate.parameters;
  parameters.emplace_back("search", search_name(design.search));
  if (design.smooth == Smooth::tile) parameters.emplace_back("rows", std::to_string(design.rows));
  if (design.smooth == Smooth::matrix) {
    parameters.emplace_back("polynomial", fmt::format("{}/8", design.polynomial));
    parameters.emplace_back("parts", std::to_string(design.parts));
    parameters.emplace_back("down", std::to_string(design.down));
  }
  candidate.refusal = refusal(device, problem, design);
  candidate.cost = {.flops = work_of(problem),
                    .bytes = static_cast<double>(FlowPipeline::workspace_bytes(problem, design)) * 2,
                    .launches = 10.0 * problem.parameters.layers,
                    .efficiency = efficiency_of(design)};
  return candidate;
}

std::vector<KernelSource> flow_sources(const Device& device, const FlowParameters& p, const FlowDesign& design) {
  const bool unrolled = device.limits().private_arrays_in_registers;
  std::vector<KernelSource> sources{stages_source(p, design), search_source(p, design),
                                    smooth_source(filter_at_the_end(p), design, unrolled)};
  if (filter_between(p) != filter_at_the_end(p) && p.layers > 1) {
    sources.push_back(smooth_source(filter_between(p), design, unrolled));
  }
  return sources;
}

}  // namespace ridge::image::on_device

namespace ridge::image {

void list_device_flow(const Device& device, const FlowProblem& problem, std::vector<Entry>& entries) {
  using namespace on_device;
  for (const FlowDesign& design : flow_designs()) {
    entries.push_back(
        {.candidate = candidate_of(device, problem, design),
         .kernels = [device, problem, design] { return flow_sources(device, problem.parameters, design); },
         .build = [device, problem, design] { return std::make_shared<const FlowVariant>(device, problem, design); }});
  }
}

}  // namespace ridge::image
