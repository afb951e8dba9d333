// Builds a window from parts along one axis: blocks of base^k cells, several of which form the window.
#pragma once
#include <vector>

namespace ridge::image {

struct Join {
  enum class Kind {
    grow,    // blocks of `cells` become blocks of base * cells, from those `cells` apart
    take,    // the window, empty so far, becomes the current blocks
    append,  // the window of `before` cells is extended by the block of `cells` behind it
  } kind;
  int cells, before;
};
// Joins in order; the window is complete at the end.
std::vector<Join> joins_of(int window, int base);

}  // namespace ridge::image
