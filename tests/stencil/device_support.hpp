// Shared by the tests of generated stencil kernels: a reference in double, devices, grids, comparisons.
#pragma once
#include <ridge/device.hpp>
#include <ridge/stencil.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

#include "stencil/device/layout.hpp"
#include "stencil/device/weights.hpp"
#include "support/devices.hpp"

namespace ridge::stencil::device_tests {

using ridge::test::accelerators;

// The cell that a read at `index` along an axis of `n` cells refers to.
inline long reading_index(long index, long n, Border low, Border high) {
  while (index < 0 || index >= n) {
    if (low == Border::periodic) {
      index = ((index % n) + n) % n;
    } else if (index < 0) {
      index = low == Border::mirror ? -index - 1 : 0;
    } else {
      index = high == Border::mirror ? 2 * n - 1 - index : n - 1;
    }
  }
  return index;
}

// Steps of a linear stencil, cell by cell in double, in one to three dimensions.
inline std::vector<double> reference(std::vector<double> u, const std::vector<std::size_t>& shape,
                                     const Borders& borders, const std::vector<Term>& terms, int steps) {
  std::array<long, 3> n{1, 1, 1};
  std::array<Border, 3> low{Border::periodic, Border::periodic, Border::periodic}, high = low;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    const std::size_t axis = 3 - shape.size() + i;
    n[axis] = static_cast<long>(shape[i]);
    low[axis] = borders.low[i];
    high[axis] = borders.high[i];
  }
  std::array<long, 3> radius{0, 0, 0};
  for (const Term& term : terms) {
    for (std::size_t a = 0; a < 3; ++a) radius[a] = std::max<long>(radius[a], std::abs(term.offset[a]));
  }
  std::vector<double> next = u;
  for (int step = 0; step < steps; ++step) {
    for (long z = 0; z < n[0]; ++z) {
      for (long y = 0; y < n[1]; ++y) {
        for (long x = 0; x < n[2]; ++x) {
          const std::array<long, 3> at{z, y, x};
          bool frozen = false;
          for (std::size_t a = 0; a < 3; ++a) {
            frozen |= low[a] == Border::fixed && at[a] < radius[a];
            frozen |= high[a] == Border::fixed && at[a] >= n[a] - radius[a];
          }
          const auto index = static_cast<std::size_t>((z * n[1] + y) * n[2] + x);
          if (frozen) {
            next[index] = u[index];
            continue;
          }
          double sum = 0;
          for (const Term& term : terms) {
            std::array<long, 3> from{};
            for (std::size_t a = 0; a < 3; ++a) from[a] = reading_index(at[a] + term.offset[a], n[a], low[a], high[a]);
            sum = std::fma(term.weight, u[static_cast<std::size_t>((from[0] * n[1] + from[1]) * n[2] + from[2])], sum);
          }
          next[index] = sum;
        }
      }
    }
    std::swap(u, next);
  }
  return u;
}

// Pseudo-random values in [-0.5, 0.5).
inline std::vector<double> scattered(std::size_t cells) {
  std::vector<double> values(cells);
  std::uint64_t state = 88172645463325252ull;
  for (double& value : values) {
    state ^= state << 13, state ^= state >> 7, state ^= state << 17;
    value = static_cast<double>(state >> 11) * 0x1p-53 - 0.5;
  }
  return values;
}

// A star of the given order with distinct weights whose sum is close to 1, so that values do not grow.
inline std::vector<Term> star(std::size_t dimensions, int order) {
  std::vector<Term> terms;
  double rest = 1;
  int count = 0;
  for (std::size_t axis = 3 - dimensions; axis < 3; ++axis) {
    for (int k = 1; k <= order; ++k) {
      for (const int sign : {-1, 1}) {
        Offset offset{};
        offset[axis] = sign * k;
        const double weight = (0.09 + 0.007 * ++count) / (k * k);
        terms.push_back({.offset = offset, .weight = k % 2 == 0 ? -weight : weight});
        rest -= terms.back().weight;
      }
    }
  }
  terms.push_back({.offset = {}, .weight = rest});
  return terms;
}

inline std::vector<Term> box(std::size_t dimensions, int order) {
  std::vector<Term> terms;
  const int oz = dimensions > 2 ? order : 0, oy = dimensions > 1 ? order : 0;
  int count = 0;
  for (int z = -oz; z <= oz; ++z) {
    for (int y = -oy; y <= oy; ++y) {
      for (int x = -order; x <= order; ++x)
        terms.push_back({.offset = {z, y, x}, .weight = 1.0 + 0.05 * (++count % 7)});
    }
  }
  double sum = 0;
  for (const Term& term : terms) sum += term.weight;
  for (Term& term : terms) term.weight /= sum;
  return terms;
}

inline Borders sides(Border y0, Border y1, Border x0, Border x1) {
  return {.low = {y0, x0, Border::fixed}, .high = {y1, x1, Border::fixed}};
}

// Every kind on every axis, and mixtures.
inline std::vector<Borders> border_kinds() {
  using enum Border;
  return {sides(fixed, fixed, fixed, fixed),
          sides(mirror, mirror, mirror, mirror),
          sides(periodic, periodic, periodic, periodic),
          sides(fixed, mirror, periodic, periodic),
          sides(periodic, periodic, mirror, fixed),
          sides(mirror, fixed, fixed, mirror)};
}

}  // namespace ridge::stencil::device_tests
