// Parameters of the flow on a device: the kernels that search and filter, and their tile sizes.
#pragma once
#include <string>
#include <vector>

#include <ridge/image/flow.hpp>
#include <ridge/plan.hpp>

namespace ridge::image::on_device {

enum class Search {
  blocks,   // 2 x 2 pixels per work-item if they start from the same offset, else one
  singles,  // one pixel per work-item, its weights and sums in registers
  plain,    // one pixel per work-item, one candidate at a time: any radius and reach
};
enum class Smooth {
  matrix,  // sums as matrix products, from a tile in local memory
  tile,    // several rows per work-item, from a tile in local memory
  plain,   // one pixel per work-item, from global memory: any radius
};

struct FlowDesign {
  Search search = Search::blocks;
  Smooth smooth = Smooth::tile;
  int rows = 2;        // tile: pixels per work-item
  int polynomial = 0;  // matrix: of every 8 exponentials, the number computed by arithmetic
  int parts = 6;       // matrix: values per cell in local memory, 6 or 4
  int down = 1;        // matrix: sub-groups stacked vertically in a group
};

// Parameters of the filter between levels, or of the last one.
struct FilterShape {
  int radius;
  double sigma_dist, sigma_color;
  bool operator==(const FilterShape&) const = default;
};
FilterShape filter_between(const FlowParameters& parameters);
FilterShape filter_at_the_end(const FlowParameters& parameters);

// Work-items of a group, and the bytes of local memory in its LOCAL_BLOCK.
struct SmoothLaunch {
  std::uint64_t items_x = 32, items_y = 8;
  int pixels_across = 32, pixels_down = 8;
  std::size_t local_bytes = 0;
};
SmoothLaunch smooth_launch(const FlowDesign& design, const FilterShape& filter);

// Border of every picture, in words.
int pad_of(const FlowParameters& parameters);

// Sources of all stages but search and filter, of the search, and of a filter. `unrolled`: the device keeps private
// arrays in registers.
KernelSource stages_source(const FlowParameters& parameters, const FlowDesign& design);
KernelSource search_source(const FlowParameters& parameters, const FlowDesign& design);
KernelSource smooth_source(const FilterShape& filter, const FlowDesign& design, bool unrolled);

// All kernel sources that a pipeline of the design compiles.
std::vector<KernelSource> flow_sources(const Device& device, const FlowParameters& parameters,
                                       const FlowDesign& design);

planner::Candidate candidate_of(const Device& device, const FlowProblem& problem, const FlowDesign& design);
std::vector<FlowDesign> flow_designs();  // in the order of the list of variants

}  // namespace ridge::image::on_device
