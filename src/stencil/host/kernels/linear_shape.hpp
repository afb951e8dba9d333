// Stencil shapes that are unrolled at compile time: stars and boxes, with points numbered in memory order.
#pragma once
#include <cstddef>
#include <vector>

#include <ridge/stencil/update.hpp>

namespace ridge::stencil {

template <int kRz, int kRy, int kRx, bool kIsStar>
struct Shape {
  static constexpr int rz = kRz, ry = kRy, rx = kRx;
  static constexpr bool has(int dz, int dy, int dx) {
    if (dz < -rz || dz > rz || dy < -ry || dy > ry || dx < -rx || dx > rx) return false;
    return !kIsStar || (dz != 0) + (dy != 0) + (dx != 0) <= 1;
  }
  // Number of points before this one in memory order.
  static constexpr int index(int dz, int dy, int dx) {
    int before = 0;
    for (int z = -rz; z <= rz; ++z) {
      for (int y = -ry; y <= ry; ++y) {
        for (int x = -rx; x <= rx; ++x) {
          if (z == dz && y == dy && x == dx) return before;
          before += has(z, y, x);
        }
      }
    }
    return before;
  }
  static constexpr int points = index(kRz + 1, 0, 0);
  static bool matches(const std::vector<Term>& terms) {
    if (terms.size() != static_cast<std::size_t>(points)) return false;
    int seen = 0;
    for (const Term& term : terms) {
      const auto [z, y, x] = term.offset;
      if (term.field != 0 || term.to != 0 || !has(z, y, x) || index(z, y, x) != seen++) return false;
    }
    return true;
  }
};

}  // namespace ridge::stencil
