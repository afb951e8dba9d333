// The subscripts that a loop moves along, for the marks of the spine.
#pragma once
#include <set>
#include <string>

#include "place/analysis/relations.hpp"

namespace ridge::place::analysis {

// Adds "a 0" for every array a of the user's program with the loop's iterator in subscript 0, below `node`.
void find_scans(const Node& node, const Loop& loop, const Nest& nest, const Relations& relations,
                std::set<std::string>& scans);

}  // namespace ridge::place::analysis
