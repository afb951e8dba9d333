// Tests against mathematical results: decay of heat modes, order in space, conservation, convergence checks.
#include <numbers>

#include "support.hpp"
#include "support/worst.hpp"

namespace ridge::stencil {
namespace {

constexpr double kPi = std::numbers::pi;

Update<double> explicit_heat(std::size_t dimensions, double lambda) {
  std::vector<Term> terms = weighted(von_neumann(dimensions, 1), lambda);
  for (Term& term : terms) {
    if (term.offset == Offset{}) term.weight = 1 - 2 * static_cast<double>(dimensions) * lambda;
  }
  return linear<double>(dimensions, terms);
}

// A step multiplies the mode sin(k pi x) by exactly 1 - 4 lambda sin^2(k pi dx / 2).
TEST(Convergence, ModesDecayAtTheirRate) {
  const std::size_t cells = 101, steps = 200;
  const double lambda = 0.3, dx = 1.0 / static_cast<double>(cells - 1);
  const auto plan = stencil::plan(host(), explicit_heat(1, lambda), {.shape = {cells}}, {.effort = Effort::quick});
  for (const int mode : {1, 2, 5}) {
    Grid<double> grid({cells});
    const auto shape = [&](std::size_t x) { return std::sin(mode * kPi * static_cast<double>(x) * dx); };
    for (std::size_t x = 0; x < cells; ++x) grid(x) = x == 0 || x == cells - 1 ? 0 : shape(x);
    plan.run(grid, steps);
    const double half = std::sin(mode * kPi * dx / 2);
    const double factor = std::pow(1 - 4 * lambda * half * half, static_cast<double>(steps));
    // The continuous equation gives exp(-k^2 pi^2 t), t = steps lambda dx^2; the discrete rate is close to it.
    const double t = static_cast<double>(steps) * lambda * dx * dx;
    EXPECT_NEAR(factor, std::exp(-mode * mode * kPi * kPi * t), 0.02 * factor);
    for (std::size_t x = 0; x < cells; ++x) EXPECT_NEAR(grid(x), factor * shape(x), 1e-12);
  }
}

TEST(Convergence, ModesDecayIn2DAnd3DWithMirrors) {
  // Cell-centred cosines, which mirrored borders preserve.
  for (const std::size_t dimensions : {2u, 3u}) {
    const std::size_t cells = 24, steps = 60;
    const double lambda = 0.12;
    const std::vector<std::size_t> shape(dimensions, cells);
    Grid<double> grid(shape);
    const auto wave = [&](std::size_t i) { return std::cos(kPi * (static_cast<double>(i) + 0.5) / cells); };
    std::vector<double> start(grid.cells());
    for (std::size_t i = 0; i < grid.cells(); ++i) {
      double product = 1;
      for (std::size_t rest = i, axis = 0; axis < dimensions; ++axis, rest /= cells) product *= wave(rest % cells);
      start[i] = grid.all()[i] = product;
    }
    stencil::plan(host(), explicit_heat(dimensions, lambda), {.shape = shape, .borders = Borders::all(Border::mirror)},
                  {.effort = Effort::quick})
        .run(grid, steps);
    const double half = std::sin(kPi / (2.0 * cells));
    const double factor =
        std::pow(1 - 4 * lambda * static_cast<double>(dimensions) * half * half, static_cast<double>(steps));
    for (std::size_t i = 0; i < grid.cells(); ++i) EXPECT_NEAR(grid.all()[i], factor * start[i], 1e-12);
  }
}

// Halving dx with dt ~ dx^2 quarters the error against the exact solution.
TEST(Convergence, SecondOrderInSpace) {
  std::vector<double> errors;
  for (const std::size_t intervals : {16u, 32u, 64u}) {
    const double lambda = 0.2, dx = 1.0 / static_cast<double>(intervals), time = 0.05;
    const auto steps = static_cast<std::size_t>(std::lround(time / (lambda * dx * dx)));
    const std::size_t cells = intervals + 1;
    Grid<double> grid({cells, cells});
    const auto shape = [&](std::size_t y, std::size_t x) {
      return std::sin(kPi * static_cast<double>(x) * dx) * std::sin(kPi * static_cast<double>(y) * dx);
    };
    for (std::size_t y = 1; y + 1 < cells; ++y) {
      for (std::size_t x = 1; x + 1 < cells; ++x) grid(y, x) = shape(y, x);
    }
    stencil::plan(host(), explicit_heat(2, lambda), {.shape = {cells, cells}}, {.effort = Effort::quick})
        .run(grid, steps);
    const double decay = std::exp(-2 * kPi * kPi * static_cast<double>(steps) * lambda * dx * dx);
    double worst = 0;
    for (std::size_t y = 0; y < cells; ++y) {
      for (std::size_t x = 0; x < cells; ++x)
        worst = ridge::test::worse(worst, std::fabs(grid(y, x) - decay * shape(y, x)));
    }
    errors.push_back(worst);
  }
  EXPECT_NEAR(std::log2(errors[0] / errors[1]), 2, 0.1);
  EXPECT_NEAR(std::log2(errors[1] / errors[2]), 2, 0.05);
}

TEST(Convergence, PeriodicAndMirroredGridsConserve) {
  for (const Border border : {Border::periodic, Border::mirror}) {
    Grid<double> grid = test::random_grid<double>({37, 53});
    const auto total = [&] {
      double sum = 0;
      for (const double cell : grid.all()) sum += cell;
      return sum;
    };
    const double before = total();
    stencil::plan(host(), explicit_heat(2, 0.2), {.shape = {37, 53}, .borders = Borders::all(border)},
                  {.effort = Effort::quick})
        .run(grid, 300);
    EXPECT_NEAR(total(), before, 1e-10 * std::fabs(before));
    double deviation = 0;
    for (const double cell : grid.all())
      deviation = ridge::test::worse(deviation, std::fabs(cell - before / static_cast<double>(grid.cells())));
    EXPECT_LT(deviation, 0.5);  // values did diffuse
  }
}

TEST(Convergence, StopsWhenAStepChangesLittle) {
  const Problem problem{.shape = {20, 20}};
  const auto plan = stencil::plan(host(), explicit_heat(2, 0.2), problem, {.effort = Effort::quick});
  for (const Norm norm : {Norm::max, Norm::l2}) {
    Grid<double> grid({20, 20});
    for (std::size_t x = 0; x < 20; ++x) grid(0, x) = 1;
    Grid<double> expected = grid;
    const Stop stop = plan.run_until(grid, 1e-6, norm, 100000, 10);
    EXPECT_TRUE(stop.converged);
    EXPECT_LE(stop.change, 1e-6);
    EXPECT_EQ(stop.steps % 10, 0u);
    // The same steps by the reference, and the norm of the last one.
    reference(plan.update(), problem, expected, stop.steps - 1);
    Grid<double> last = expected;
    reference(plan.update(), problem, last, 1);
    EXPECT_TRUE(test::same_bits(grid, last));
    EXPECT_NEAR(stop.change, change_between(expected, last, norm), 1e-15);
    // Ten steps earlier it had not yet converged.
    Grid<double> earlier({20, 20});
    for (std::size_t x = 0; x < 20; ++x) earlier(0, x) = 1;
    const Stop early = plan.run_until(earlier, 1e-6, norm, stop.steps - 10, 10);
    EXPECT_FALSE(early.converged);
    EXPECT_EQ(early.steps, stop.steps - 10);
    EXPECT_GT(early.change, 1e-6);
  }
}

TEST(Convergence, L2IsTheRootOfTheMeanSquare) {
  const auto twice = update<double>(1, [](auto u) { return 2.0 * u(0); });
  const auto plan = stencil::plan(host(), twice, {.shape = {4}}, {.effort = Effort::quick});
  Grid<double> grid({4});
  for (std::size_t x = 0; x < 4; ++x) grid(x) = static_cast<double>(x + 1);
  Session<double> session = plan.start(grid);
  EXPECT_DOUBLE_EQ(session.change(Norm::l2), std::sqrt((1.0 + 4 + 9 + 16) / 4));
  EXPECT_DOUBLE_EQ(session.change(Norm::max), 8);
  EXPECT_EQ(session.steps(), 2u);
}

TEST(Convergence, NanEndsIt) {
  const auto plan = stencil::plan(host(), explicit_heat(2, 0.2), {.shape = {20, 20}}, {.effort = Effort::quick});
  Grid<double> grid({20, 20});
  grid(10, 10) = std::numeric_limits<double>::quiet_NaN();
  for (const Norm norm : {Norm::max, Norm::l2}) {
    Grid<double> copy = grid;
    const Stop stop = plan.run_until(copy, 1e-9, norm);
    EXPECT_FALSE(stop.converged);
    EXPECT_TRUE(std::isnan(stop.change));
    EXPECT_LT(stop.steps, 1000u);
  }
  EXPECT_THROW(plan.run_until(grid, std::numeric_limits<double>::quiet_NaN()), Error);
  EXPECT_THROW(plan.run_until(grid, -1), Error);
}

}  // namespace
}  // namespace ridge::stencil
