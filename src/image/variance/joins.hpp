// How a window is put together from parts along one axis: blocks of base^k cells, of which a window is a row.
#pragma once
#include <vector>

namespace ridge::image {

struct Join {
  enum class Kind {
    grow,    // blocks of `cells` become blocks of base * cells, from those `cells` apart
    take,    // the window so far, nothing, becomes the blocks at hand
    append,  // the window so far, `before` cells, gets the block of `cells` behind it
  } kind;
  int cells, before;
};
// In order; the window is whole at the end.
std::vector<Join> joins_of(int window, int base);

}  // namespace ridge::image
