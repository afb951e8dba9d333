// Computes the joins of a window of any length.
#include "image/variance/joins.hpp"

namespace ridge::image {

std::vector<Join> joins_of(int window, int base) {
  std::vector<Join> joins;
  int have = 0, left = window;
  for (int cells = 1;; cells *= base) {
    // The digits of the window's length in the base, the smallest first.
    for (int digit = left % base; digit > 0; --digit) {
      joins.push_back({have == 0 ? Join::Kind::take : Join::Kind::append, cells, have});
      have += cells;
    }
    left /= base;
    if (left == 0) return joins;
    joins.push_back({Join::Kind::grow, cells, 0});
  }
}

}  // namespace ridge::image
