// Window of an array that a work-group reads: a box of elements that moves with the group.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "place/analysis/relations.hpp"

namespace ridge::place::analysis {

struct Window {
  // C text over the nest's parameters and, per loop of the chain, the group's first iteration: i_group.
  std::vector<std::string> low{}, length{};  // one per dimension of the array's shape
  std::vector<long> fixed{};                 // length if it is the same for every group; else 0
};

// A group computes width[k] iterations of chain[k]. Empty if an access is not exact, or if the range of an inner loop
// depends on data.
std::optional<Window> window(const Relations& relations, int variable, const std::vector<int>& chain,
                             const std::vector<long>& width);

// Subscripts of an exact access, one per dimension of the array's shape.
std::optional<std::vector<Poly>> dimensions(const Relations& relations, const Access& access);

}  // namespace ridge::place::analysis
