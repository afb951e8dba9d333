// Which loops of a nest go to the grid: the first criterion, in the thesis' order. The outermost legal nest is taken.
#pragma once
#include <string>
#include <vector>

#include "place/analysis/verdicts.hpp"

namespace ridge::place::criteria {

struct Choice {
  std::vector<int> chain{};  // loops on the grid, outermost first, boxes only past three; empty: the nest is not placed
  bool reduces = false;
  std::vector<int> atomics{};  // arrays of whole numbers that many iterations add to, at places only the run knows
  std::vector<int> copies{};   // arrays that are read from a copy taken before the nest
  std::string why{};           // why not
};

Choice choose(const Nest& nest, const std::vector<analysis::Verdict>& verdicts);

}  // namespace ridge::place::criteria
