// Queries on loops and their source text, shared by the transformations.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include "place/transform/transformation.hpp"

namespace ridge::place::transform {

const Node* find(const Node& tree, int loop);
bool contains(const Node& tree, const Node* node);
const Node& body_block(const Node& loop);  // the block whose children are the statements of the body

// True for a for loop with a named iterator, affine bounds, no break, and all of its text in the file.
bool plain(const Nest& nest, int loop);
// The loop that is the whole body of another (perfect nesting, also in the text); -1 if there is none.
int only_inside(const State& state, int loop);
std::string header(const State& state, int loop);  // for (int i = 0; i < n; ++i)
std::string slice(const State& state, const Span& span);

// Bounds of a loop with step 1, inclusive, with their C++ text.
struct LoopBounds {
  Poly low{}, high{};
  std::string low_text{}, high_text{};
};
std::optional<LoopBounds> loop_bounds(const Nest& nest, int loop);
std::optional<std::string> host_text(const Poly& poly, const Nest& nest);
// True if nothing in the nest writes what the loop's header reads.
bool header_is_invariant(const Nest& nest, const Node& loop);
std::vector<std::string> loops_in_order(const Nest& nest, const Node& tree);  // ids
std::string fresh(const State& state, std::string name);                      // a name that the file does not contain

}  // namespace ridge::place::transform
