// Unroll-and-jam in kernels: a work-item computes several iterations of the grid's loops together, so that data they
// share is loaded once, such as the factors of a matrix product or the weights of a filter.
#pragma once
#include <string>
#include <vector>

#include "place/criteria/choose.hpp"
#include "place/model.hpp"

namespace ridge::place::emit {

struct Blocking {
  std::vector<int> copies{};  // iterations per work-item along each loop of the chain; empty: one
  bool blocks() const { return !copies.empty(); }
};

// Blocking for two perfectly nested grid loops around inner loops whose bounds do not depend on them, if an array
// inside is not subscripted by one of the two. Private variables must be declared inside: one declared outside would be
// shared between the copies.
Blocking find_blocking(const Nest& nest, const criteria::Choice& choice, const std::vector<int>& privates);

// True if the nest uses names like those that blocking and tiles add to a kernel.
bool uses_reserved_names(const Nest& nest);

// Kernel text of the nest with `items` work-items per group along each loop of the chain. `loops` have their axes.
std::string blocked_text(const Nest& nest, const std::vector<Loop>& loops, const criteria::Choice& choice,
                         const Blocking& blocking, const std::vector<std::string>& items);

// Kernel text inside those loops, where each iterator is at ITERATOR_first; `root` may be another version of the nest's
// tree.
std::string blocked_body(const Nest& nest, const Node& root, const std::vector<Loop>& loops,
                         const criteria::Choice& choice, const Blocking& blocking,
                         const std::vector<std::string>& items);

}  // namespace ridge::place::emit
