// What a work-group reads of an array: a box of elements that moves with the group.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "place/analysis/relations.hpp"

namespace ridge::place::analysis {

struct Window {
  // C over the nest's parameters and, for every loop of the chain, the first iteration of the group: i_group.
  std::vector<std::string> low{}, length{};  // one a dimension of the array's shape
  std::vector<long> fixed{};                 // the length where it is the same for every group; else 0
};

// A group takes width[k] iterations of chain[k] from its first one on. Nothing where an access is not exact, or where
// loops inside reach as far as only the data know.
std::optional<Window> window(const Relations& relations, int variable, const std::vector<int>& chain,
                             const std::vector<long>& width);

// The subscripts of an exact access in that shape.
std::optional<std::vector<Poly>> dimensions(const Relations& relations, const Access& access);

}  // namespace ridge::place::analysis
