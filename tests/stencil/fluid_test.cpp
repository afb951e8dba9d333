// Viscous flow in 3D against exact solutions, and every variant against the reference.
#include <cmath>
#include <numbers>
#include <vector>

#include "stencil/problems/scenario.hpp"
#include "support.hpp"
#include "support/worst.hpp"

namespace ridge::stencil {
namespace {

// Largest error of the three velocities at time t, on the host.
double fluid_error(const FluidOptions& options, double t) {
  const Scenario<double> scenario = fluid_scenario<double>(options);
  Grid<double> grid(scenario.problem.shape, scenario.fields.size());
  const auto& shape = scenario.problem.shape;
  const auto each = [&](const auto& use) {
    for (std::size_t z = 0; z < shape[0]; ++z) {
      for (std::size_t y = 0; y < shape[1]; ++y) {
        for (std::size_t x = 0; x < shape[2]; ++x)
          use(std::array<std::size_t, 3>{z, y, x}, (z * shape[1] + y) * shape[2] + x);
      }
    }
  };
  std::array<double, 7> values{};
  each([&](const auto& cell, std::size_t i) {
    scenario.initial(cell, values.data());
    for (std::size_t f = 0; f < values.size(); ++f) grid.all()[f * grid.cells() + i] = values[f];
  });
  const auto steps = static_cast<std::size_t>(std::lround(t / scenario.dt));
  plan(host(), scenario.update, scenario.problem, {.effort = Effort::quick}).run(grid, steps);
  base::Worst worst;
  each([&](const auto& cell, std::size_t i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const auto at = fluid_position(options, scenario.spacing[0], cell, static_cast<int>(axis));
      const FluidState exact =
          fluid_exact(options.flow, options.viscosity, static_cast<double>(steps) * scenario.dt, at);
      worst.add(std::abs(grid.all()[(3 - axis) * grid.cells() + i] - exact.velocity[axis]));
    }
  });
  return worst.value();
}

// The decaying vortex: the error falls with the square of the cell size, dt with it.
TEST(Fluid, VortexIsSecondOrder) {
  const double coarse = fluid_error({.shape = {8, 8, 8}, .viscosity = 0.2}, 0.5);
  const double fine = fluid_error({.shape = {16, 16, 16}, .viscosity = 0.2}, 0.5);
  EXPECT_LT(fine, 5e-3);
  EXPECT_GT(coarse / fine, 3.2);
  EXPECT_LT(coarse / fine, 5.0);
}

// The channel from rest, while the profile is still flat in the middle and when it is nearly a parabola.
TEST(Fluid, ChannelFollowsTheExactStart) {
  const FluidOptions options{.shape = {3, 17, 4}, .flow = "channel", .viscosity = 0.2};
  EXPECT_LT(fluid_error(options, 0.1), 1e-3);
  EXPECT_LT(fluid_error(options, 2.0), 5e-4);
  const FluidOptions finer{.shape = {3, 33, 4}, .flow = "channel", .viscosity = 0.2};
  EXPECT_LT(fluid_error(finer, 0.1), 0.3 * fluid_error(options, 0.1));
}

// Exact velocity of the channel's difference equations along y on row j of `rows` rows: the parabola, which the
// second difference represents exactly, less its decaying sine modes.
double channel_on_grid(std::size_t rows, double viscosity, double t, std::size_t j) {
  const double n = static_cast<double>(rows - 1), pi = std::numbers::pi;
  const auto parabola = [&](std::size_t i) {
    const double y = static_cast<double>(i) / n;
    return 4 * y * (1 - y);
  };
  double u = parabola(j);
  for (std::size_t mode = 1; mode + 1 < rows; ++mode) {
    const double k = static_cast<double>(mode) * pi / n, root = 2 * n * std::sin(k / 2);
    double part = 0;
    for (std::size_t i = 1; i + 1 < rows; ++i) part += parabola(i) * std::sin(k * static_cast<double>(i));
    u -= 2 / n * part * std::sin(k * static_cast<double>(j)) * std::exp(-viscosity * root * root * t);
  }
  return u;
}

// The exact solution on the grid has no error in space, so that only the error of the time steps is left.
TEST(Fluid, StepsAreSecondOrderInTime) {
  constexpr double kEnd = 0.2;
  std::vector<double> errors;
  for (const std::size_t steps : {50u, 100u}) {
    const FluidOptions options{
        .shape = {3, 9, 4}, .flow = "channel", .viscosity = 0.2, .sound = 2, .dt = kEnd / static_cast<double>(steps)};
    const Scenario<double> scenario = fluid_scenario<double>(options);
    Grid<double> grid(options.shape, scenario.fields.size());
    for (double& value : grid.all()) value = 0;  // the channel starts from rest
    plan(host(), scenario.update, scenario.problem, {.effort = Effort::quick}).run(grid, steps);
    base::Worst worst;
    for (std::size_t i = 0; i < grid.cells(); ++i) {
      const double exact = channel_on_grid(9, options.viscosity, kEnd, i / 4 % 9);
      worst.add(std::abs(grid.all()[grid.cells() + i] - exact));  // velocity_x
    }
    errors.push_back(worst.value());
  }
  EXPECT_LT(errors[0], 3e-5);
  EXPECT_GT(errors[0] / errors[1], 3.6);
  EXPECT_LT(errors[0] / errors[1], 4.4);
}

TEST(Fluid, EveryVariantAgrees) {
  const auto update = fluid<double>({.viscosity = 0.1, .sound = 1, .dt = 0.05});
  for (const Borders& borders : test::all_borders())
    EXPECT_GE(test::check_host_variants(update, {.shape = {5, 7, 19}, .borders = borders}, 3), 2u);
  const auto narrow = fluid<float>({.viscosity = 0.1, .sound = 1, .dt = 0.05});
  EXPECT_GE(test::check_host_variants(narrow, {.shape = {3, 4, 5}}, 2), 2u);
}

TEST(Fluid, RefusesUnstableAndOddProblems) {
  EXPECT_THROW(fluid<float>({.dt = 1}), Error);
  EXPECT_THROW(fluid<float>({.dt = 0}), Error);
  EXPECT_THROW(fluid<float>({.viscosity = std::nan(""), .dt = 0.01}), Error);
  EXPECT_THROW(fluid_scenario<float>({.shape = {8, 8, 9}}), Error);
  EXPECT_THROW(fluid_scenario<float>({.shape = {8, 2, 8}, .flow = "channel"}), Error);
  EXPECT_THROW(fluid_scenario<float>({.flow = "jet"}), Error);
}

}  // namespace
}  // namespace ridge::stencil
