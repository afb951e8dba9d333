// First criterion: the loops of a nest that become grid axes, the outermost legal ones.
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
  std::string why{};                           // reason if the chain is empty
};

Choice choose(const Nest& nest, const std::vector<analysis::Verdict>& verdicts);

}  // namespace ridge::place::criteria
