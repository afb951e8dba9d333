// Finds the subscripts of arrays that a loop's iterator changes, which the picture of the spine shows.
#pragma once
#include <set>
#include <string>

#include "place/analysis/relations.hpp"

namespace ridge::place::analysis {

// Adds "a k" for every access to an array a below `node` whose subscript k contains the loop's iterator.
void find_scans(const Node& node, const Loop& loop, const Nest& nest, const Relations& relations,
                std::set<std::string>& scans);

}  // namespace ridge::place::analysis
