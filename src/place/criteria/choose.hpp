// First criterion: the loops of a nest that become grid axes, the outermost legal ones; sizes of arrays and loops.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "place/analysis/verdicts.hpp"

namespace ridge::place::criteria {

struct Choice {
  // Loops on the grid, outermost first; more than three only if their ranges form a box. Empty: the nest is not placed.
  std::vector<int> chain{};
  bool reduces = false;
  std::vector<int> atomics{};  // integer arrays that several iterations add to, at subscripts known at run time only
  std::vector<int> copies{};   // arrays read from a copy made before the nest
  std::vector<analysis::OldRead> old_reads{};  // their reads that are redirected
  bool some_stay = false;                      // other reads of these arrays stay
  std::vector<std::pair<int, int>> same{};     // images (read, written) that may be one and the same
  bool threads = false;                        // for threads of the host
  std::string why{};                           // reason if the chain is empty
};

Choice choose(const Nest& nest, const std::vector<analysis::Verdict>& verdicts);

// Second criterion: the shape of a work-group, from device limits and loop lengths. (The third, device memory for all
// arrays of the nest, is tested by the placed program before each launch.)

struct Limits {
  const char* name;
  int width;           // warp or wavefront width: a group is a multiple of it
  int sides[3], most;  // limits of a group: per axis, and work-items in total
  long groups[3];      // limits of a grid, per axis
  int resident_items,
      resident_groups;  // limits of a compute unit: groups smaller than their quotient leave it partly idle
};
const std::vector<Limits>& devices();  // NVIDIA, AMD, CPUs under OpenCL

// Group shape within the limits of all devices, because one kernel text serves all. `iterations`: per axis, 0 if
// known at run time only. `full`: exactly kItems work-items, as the reduction trees require.
constexpr int kItems = 256;
std::vector<int> group_shape(const std::vector<long>& iterations, bool full);

// The device limit that a shape exceeds; "" if none.
std::string exceeded_limit(const std::vector<int>& shape);

}  // namespace ridge::place::criteria
