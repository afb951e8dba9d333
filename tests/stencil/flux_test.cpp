// Neumann borders with a flux: every host variant against plain loops with explicit cells beyond the sides.
#include <ridge/stencil/flux.hpp>

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include <ridge/stencil/problems.hpp>

#include "support/error_of.hpp"

namespace ridge::stencil {
namespace {

// The value at any index, extended across the sides by its definition.
double extended(const std::vector<double>& u, const std::array<long, 3>& size, std::array<long, 3> at,
                const std::array<double, 3>& low, const std::array<double, 3>& high) {
  double extra = 0;
  for (std::size_t i = 0; i < 3; ++i) {
    while (at[i] < 0 || at[i] >= size[i]) {
      if (at[i] < 0) {
        extra += static_cast<double>(-2 * at[i] - 1) * low[i];
        at[i] = -at[i] - 1;
      } else {
        extra += static_cast<double>(2 * (at[i] - size[i]) + 1) * high[i];
        at[i] = 2 * size[i] - 1 - at[i];
      }
    }
  }
  return u[static_cast<std::size_t>((at[0] * size[1] + at[1]) * size[2] + at[2])] + extra;
}

std::vector<double> stepped(std::vector<double> u, const std::vector<Term>& terms, const std::array<long, 3>& size,
                            const std::array<double, 3>& low, const std::array<double, 3>& high, int steps) {
  for (int s = 0; s < steps; ++s) {
    std::vector<double> next;
    for (long z = 0; z < size[0]; ++z) {
      for (long y = 0; y < size[1]; ++y) {
        for (long x = 0; x < size[2]; ++x) {
          double sum = 0;
          for (const Term& t : terms)
            sum += t.weight * extended(u, size, {z + t.offset[0], y + t.offset[1], x + t.offset[2]}, low, high);
          next.push_back(sum);
        }
      }
    }
    u = next;
  }
  return u;
}

TEST(Flux, EveryVariantMatchesCellsBeyondTheSides) {
  for (const auto& shape : std::vector<std::vector<std::size_t>>{{3}, {1, 2}, {37, 70}, {5, 6, 11}}) {
    for (const int accuracy : {2, 8}) {
      const std::size_t axes = shape.size();
      Heat problem{.alpha = 1, .dt = 1, .spacing = std::vector<double>(axes, 1.0), .accuracy = accuracy};
      problem.dt = 0.8 * heat_limit(accuracy) / heat_number(problem);
      const Update<float> plain = heat<float>(problem);
      Problem grid_problem{.shape = shape, .borders = Borders::all(Border::mirror), .threads = 2};
      Flux flux;
      std::array<long, 3> size{1, 1, 1};
      std::array<double, 3> low{}, high{};
      for (std::size_t a = 0; a < axes; ++a) {
        size[3 - axes + a] = static_cast<long>(shape[a]);
        low[3 - axes + a] = flux.low[a] = 0.5 + static_cast<double>(a);
        high[3 - axes + a] = flux.high[a] = -0.25 * static_cast<double>(a + 1);
      }
      const FluxUpdate<float> made = with_flux(plain, grid_problem, flux);
      Grid<float> start(shape);
      for (std::size_t i = 0; i < start.cells(); ++i) start.field()[i] = static_cast<float>(i * 7 % 11) - 5;
      const auto wanted = stepped({start.field().begin(), start.field().end()}, *plain.linear, size, low, high, 6);
      double largest = 0;
      for (const double value : wanted) largest = std::max(largest, std::abs(value));
      std::size_t compared = 0;
      for (const auto& candidate : candidates(host(), made.update, grid_problem)) {
        if (!candidate.refusal.empty()) continue;
        Grid<float> grid = start;
        plan(host(), made.update, grid_problem,
             {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false, .variant = candidate.name()})
            .run(grid, 6, &made.coefficients);
        for (std::size_t i = 0; i < wanted.size(); ++i)
          ASSERT_NEAR(grid.field()[i], wanted[i], 4e-6 * largest) << candidate.name();
        ++compared;
      }
      EXPECT_GE(compared, 2u);
    }
  }
}

// Heat enters through the sides only: per step, alpha dt / dx^2 times the flux of every border cell.
TEST(Flux, TheSumGrowsByTheFlux) {
  const Problem plate{.shape = {9, 14}, .borders = Borders::all(Border::mirror)};
  const auto made =
      with_flux(heat<double>({.alpha = 1, .dt = 0.1, .spacing = {1, 1}}), plate, {.low = {0.5, 0}, .high = {0, -0.25}});
  Grid<double> grid(plate.shape);
  plan(host(), made.update, plate).run(grid, 50, &made.coefficients);
  EXPECT_NEAR(std::accumulate(grid.field().begin(), grid.field().end(), 0.0), 50 * 0.1 * (0.5 * 14 - 0.25 * 9), 1e-11);
}

TEST(Flux, RefusesOtherUpdatesAndBorders) {
  const auto refusal = [](const auto& call) -> std::string {
    return ridge::test::error_of(call, ErrorKind::invalid_argument);
  };
  const Problem fixed{.shape = {9, 9}};
  const Problem mirror{.shape = {9, 9}, .borders = Borders::all(Border::mirror)};
  const auto linear_one = heat<float>({.alpha = 1, .dt = 0.1, .spacing = {1, 1}});
  EXPECT_EQ(refusal([&] {
              with_flux(linear_one, fixed, {.high = {0, 1}});
            }),
            "flux: the high side of axis 1 has a fixed border: needs mirror");
  EXPECT_EQ(refusal([&] { with_flux(linear_one, mirror, {.low = {0, 0, 1}}); }), "flux: axis 2 of a grid with 2 axes");
  EXPECT_EQ(refusal([&] { with_flux(linear_one, mirror, {.low = {std::numeric_limits<double>::quiet_NaN()}}); }),
            "flux: must be finite, got nan");
  const auto squared = update<float>(
      2, [](auto u) { return u(0, 0) * u(0, 1); }, "square");
  EXPECT_EQ(refusal([&] { with_flux(squared, mirror, {}); }),
            "flux: square: needs a linear update with constant weights");
}

}  // namespace
}  // namespace ridge::stencil
