// How a device computes the flow: which kernels search and which filter, and their parameters.
#pragma once
#include <string>
#include <vector>

#include <ridge/image/flow.hpp>
#include <ridge/plan.hpp>

namespace ridge::image::on_device {

enum class Search {
  blocks,   // 2 x 2 pixels a work-item where they start together, else one
  singles,  // a pixel a work-item, its weights and sums in registers
  plain,    // a pixel a work-item, candidate by candidate: any radius and reach
};
enum class Smooth {
  matrix,  // sums as products of matrices, from a tile in local memory
  tile,    // several rows a work-item, from a tile in local memory
  plain,   // a pixel a work-item, from memory: any radius
};

struct FlowDesign {
  Search search = Search::blocks;
  Smooth smooth = Smooth::tile;
  int rows = 2;        // tile: pixels a work-item
  int polynomial = 0;  // matrix: of 8 powers, how many by arithmetic
  int parts = 6;       // matrix: numbers of a cell in local memory, 6 or 4
  int down = 1;        // matrix: sub-groups below each other in a group
};

// The filter between levels, or the last one.
struct FilterShape {
  int radius;
  double sigma_dist, sigma_color;
  bool operator==(const FilterShape&) const = default;
};
FilterShape filter_between(const FlowParameters& parameters);
FilterShape filter_at_the_end(const FlowParameters& parameters);

// Work-items of a group and what it takes of local memory in one LOCAL_BLOCK.
struct SmoothLaunch {
  std::uint64_t items_x = 32, items_y = 8;
  int pixels_across = 32, pixels_down = 8;
  std::size_t local_bytes = 0;
};
SmoothLaunch smooth_launch(const FlowDesign& design, const FilterShape& filter);

// Words around every picture.
int pad_of(const FlowParameters& parameters);

// Everything but search and filter; the search; a filter. Unrolled: the device keeps private arrays in registers.
KernelSource stages_source(const FlowParameters& parameters, const FlowDesign& design);
KernelSource search_source(const FlowParameters& parameters, const FlowDesign& design);
KernelSource smooth_source(const FilterShape& filter, const FlowDesign& design, bool unrolled);

// What a pipeline of the design compiles.
std::vector<KernelSource> flow_sources(const Device& device, const FlowParameters& parameters,
                                       const FlowDesign& design);

planner::Candidate candidate_of(const Device& device, const FlowProblem& problem, const FlowDesign& design);
std::vector<FlowDesign> flow_designs();  // in the order they are listed

}  // namespace ridge::image::on_device
