// Several iterations of the grid's loops in one work-item, side by side in an inner loop: what they read in common is
// loaded once (unroll and jam). The factors of a matrix product and the weights of a filter are such.
#pragma once
#include <string>
#include <vector>

#include "place/criteria/choose.hpp"
#include "place/model.hpp"

namespace ridge::place::emit {

struct Blocking {
  std::vector<int> copies{};  // iterations an item takes along each loop of the chain; empty: one
  bool blocks() const { return !copies.empty(); }
};

// Two perfectly nested loops on the grid around loops whose bounds know nothing of them, with an array in there that
// one of the two does not subscript.
// What an iteration keeps for itself must be declared in there: one that is declared outside would be shared.
Blocking find_blocking(const Nest& nest, const criteria::Choice& choice, const std::vector<int>& privates);

// The user has names of the kind that several iterations an item, or tiles, add to a kernel.
bool names_like_ours(const Nest& nest);

// The nest with `items` of a group along each loop of the chain. `loops` have their axes.
std::string blocked_text(const Nest& nest, const std::vector<Loop>& loops, const criteria::Choice& choice,
                         const Blocking& blocking, const std::vector<std::string>& items);

// What stands inside those loops, where each is at ITERATOR_first; of `root`, which may be another text of the nest.
std::string blocked_body(const Nest& nest, const Node& root, const std::vector<Loop>& loops,
                         const criteria::Choice& choice, const Blocking& blocking,
                         const std::vector<std::string>& items);

}  // namespace ridge::place::emit
