// What transformations ask of loops.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "place/transform/transformation.hpp"

namespace ridge::place::transform {

const Node* find(const Node& tree, int loop);
bool contains(const Node& tree, const Node* node);
const Node& body_block(const Node& loop);  // the block whose children are the statements of its body

// A for loop with a name for its iterator, all of whose text is in the file.
bool plain(const Nest& nest, int loop);
// The loop that is all of another's body, with nothing beside it in the text either; -1 where there is none.
int only_inside(const State& state, int loop);
std::string header(const State& state, int loop);  // for (int i = 0; i < n; ++i)
std::string slice(const State& state, const Span& span);

// Both ends of a loop that goes up by one, as the host says them: numbers and parameters only.
struct LoopBounds {
  Poly low{}, high{};
  std::string low_text{}, high_text{};
};
std::optional<LoopBounds> loop_bounds(const Nest& nest, int loop);
std::optional<std::string> host_text(const Poly& poly, const Nest& nest);
// Headers ask only what nothing in the nest writes.
bool header_stands_still(const Nest& nest, const Node& loop);
std::vector<std::string> loops_in_order(const Nest& nest, const Node& tree);  // their ids
std::string fresh(const State& state, std::string name);                      // a name the file does not use

}  // namespace ridge::place::transform
