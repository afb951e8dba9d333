// Images that a nest reads and writes under two names.
#pragma once
#include <utility>
#include <vector>

#include "place/analysis/memo.hpp"

namespace ridge::place::analysis {

// Pairs (read, written) of images that may be one and the same image, as in filter(flow, flow): with the accesses to
// the first counted as accesses to the second, all loops of the chain are still parallel, with the same private
// variables and under the same assumptions.
std::vector<std::pair<int, int>> same_images(const Nest& nest, const NestAnalysis& apart, const std::vector<int>& chain,
                                             Memo& memo);

}  // namespace ridge::place::analysis
