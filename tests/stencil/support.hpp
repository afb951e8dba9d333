// Shared by the stencil tests: grids, and the comparison of every variant with the reference.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <random>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <ridge/stencil.hpp>

#include "stencil/reference.hpp"
#include "stencil/variant.hpp"

namespace ridge::stencil::test {

template <class T>
Grid<T> random_grid(const std::vector<std::size_t>& shape, std::size_t fields = 1, unsigned seed = 1) {
  Grid<T> grid(shape, fields);
  std::mt19937 random(seed);
  for (T& cell : grid.all()) {
    if constexpr (std::is_floating_point_v<T>) {
      cell = std::uniform_real_distribution<T>(T{-1}, T{2})(random);
    } else {
      cell = static_cast<T>(random() % 7);
    }
  }
  return grid;
}

template <class T>
bool same_bits(const Grid<T>& a, const Grid<T>& b) {
  return std::memcmp(a.all().data(), b.all().data(), a.all().size_bytes()) == 0;
}

template <class T>
double largest_difference(const Grid<T>& a, const Grid<T>& b) {
  return change_between(a, b, Norm::max);
}

template <class T>
double largest_value(const Grid<T>& grid) {
  return change_between(Grid<T>(grid.shape(), grid.fields()), grid, Norm::max);
}

// Starts every allowed host variant and compares it after `steps`: bit for bit if it is exact, otherwise within a few
// units in the last place per step. Returns the number of variants.
template <class T>
std::size_t check_host_variants(const Update<T>& update, const Problem& problem, std::size_t steps,
                                const std::string& only = "") {
  const Grid<T> start = random_grid<T>(problem.shape, update.fields, 7);
  const Grid<T> coefficients = random_grid<T>(problem.shape, std::max<std::size_t>(update.coefficients, 1), 8);
  const Grid<T>* given = update.coefficients > 0 ? &coefficients : nullptr;
  Grid<T> expected = start;
  reference(update, problem, expected, steps, given);
  const double tolerance =
      static_cast<double>(steps) * 8 * static_cast<double>(std::numeric_limits<T>::epsilon()) * largest_value(expected);
  const Layout layout = resolve(update, problem);
  std::size_t checked = 0;
  for (const Entry<T>& entry : list_variants(host(), update, layout)) {
    if (!entry.candidate.refusal.empty()) continue;
    // There are many overlapped tilings, which have their own tests.
    if (only.empty() ? entry.candidate.variant == "overlapped_tiles" : entry.candidate.variant != only) continue;
    const std::string name = layout.key() + ", " + entry.candidate.name() + ", " + std::to_string(steps) + " steps";
    const auto variant = entry.build();
    const auto running = variant->start(start, given);
    running->run(steps);
    running->wait();
    Grid<T> result(problem.shape, update.fields);
    running->read(result);
    if (entry.exact) {
      EXPECT_TRUE(same_bits(result, expected)) << name << ": off by " << largest_difference(result, expected);
    } else {
      EXPECT_LE(largest_difference(result, expected), tolerance) << name;
    }
    ++checked;
  }
  return checked;
}

inline std::vector<Borders> all_borders() {
  std::vector<Borders> borders{Borders::all(Border::fixed), Borders::all(Border::mirror),
                               Borders::all(Border::periodic)};
  Borders mixed;  // different kinds on all sides that allow it
  mixed.low = {Border::mirror, Border::fixed, Border::mirror};
  mixed.high = {Border::fixed, Border::mirror, Border::mirror};
  borders.push_back(mixed);
  mixed.low = {Border::periodic, Border::mirror, Border::fixed};
  mixed.high = {Border::periodic, Border::fixed, Border::mirror};
  borders.push_back(mixed);
  return borders;
}

// Updates of all kinds, for any grid.
inline auto heat_function() {
  return [](auto u) { return u(0, 0) + 0.1 * (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4.0 * u(0, 0)); };
}
inline auto wave_function() {
  return [](auto u) {
    const auto laplacian = u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - 4.0 * u(0, 0);
    return std::array{2.0 * u(0, 0) - u.field(1, 0, 0) + 0.1 * u.coefficient(0, 0, 0) * laplacian, u(0, 0)};
  };
}
// Nonlinear, with every operation that an update may use.
inline auto every_word() {
  return [](auto u) {
    const auto east = u(0, 1), west = u(0, -1), north = u(-1, 0), south = u(1, 0), here = u(0, 0);
    const auto steep = max(abs(east - west), abs(south - north));
    const auto smooth = fma(0.25, east + west + north + south, -here) / (1.0 + steep);
    const auto rough = min(sqrt(1.0 + here * here), 2.0) - 1.0;
    return here +
           0.1 * select(steep < 0.5 && !(here <= 0.0), smooth, select(here == west || east != south, -rough, smooth));
  };
}
inline auto life_function() {
  return [](auto u) {
    const auto around = u(-1, -1) + u(-1, 0) + u(-1, 1) + u(0, -1) + u(0, 1) + u(1, -1) + u(1, 0) + u(1, 1);
    return select(around == 3 || (around == 2 && u(0, 0) == 1), 1, 0);
  };
}

}  // namespace ridge::stencil::test
