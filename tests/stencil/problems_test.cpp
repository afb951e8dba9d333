// Tests ready problems: exact solutions, orders of accuracy, conservation.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <numbers>
#include <numeric>

#include <ridge/error.hpp>
#include <ridge/stencil.hpp>
#include <ridge/stencil/problems.hpp>

#include "stencil/problems/laplacian.hpp"
#include "stencil/problems_support.hpp"
#include "stencil/reference.hpp"
#include "support/error_of.hpp"
#include "support/worst.hpp"

namespace ridge::stencil {
namespace {

using std::numbers::pi;
using testing::HasSubstr;

std::string complaint(const std::function<void()>& call) {
  return ridge::test::error_of(call, ErrorKind::invalid_argument);
}

// --- heat -----------------------------------------------------------------------------------------------------------

// Largest error of a periodic sine mode after `time`, on n cells per axis.
double heat_error(std::size_t dimensions, std::size_t n, int accuracy, double time) {
  const double dx = 1.0 / static_cast<double>(n);
  Heat heat{.alpha = 0.1, .dt = 0, .spacing = std::vector<double>(dimensions, dx), .accuracy = accuracy};
  // So small that the first-order error in time is negligible.
  const double dt = std::pow(dx, accuracy) * (accuracy == 2 ? 0.1 : 20);
  const auto steps = static_cast<std::size_t>(std::ceil(time / dt));
  heat.dt = time / static_cast<double>(steps);
  Grid<double> grid(std::vector<std::size_t>(dimensions, n));
  const auto mode = [&](std::size_t cell) {
    double value = 1;
    for (std::size_t axis = 0; axis < dimensions; ++axis, cell /= n) {
      value *= std::sin(2 * pi * (static_cast<double>(cell % n) + 0.5) * dx + 0.3);
    }
    return value;
  };
  for (std::size_t i = 0; i < grid.cells(); ++i) grid.all()[i] = mode(i);
  test::advance(stencil::heat<double>(heat), {.shape = grid.shape(), .borders = Borders::all(Border::periodic)}, grid,
                steps);
  const double decay = std::exp(-heat.alpha * 4 * pi * pi * static_cast<double>(dimensions) * time);
  double worst = 0;
  for (std::size_t i = 0; i < grid.cells(); ++i)
    worst = ridge::test::worse(worst, std::abs(grid.all()[i] - decay * mode(i)));
  return worst / decay;
}

TEST(HeatProblem, ModesDecayAtTheRightRateToSecondOrder) {
  for (const std::size_t dimensions : {1, 2, 3}) {
    const std::size_t n = dimensions == 3 ? 8 : 16;
    const double coarse = heat_error(dimensions, n, 2, 0.05), fine = heat_error(dimensions, 2 * n, 2, 0.05);
    EXPECT_LT(fine, 0.02) << dimensions;
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.15) << dimensions;
  }
}

// A second difference of accuracy p is exact for x^2 and gives 0 for x^4, ..., x^p.
TEST(HeatProblem, SecondDifferencesAreExactForPolynomials) {
  for (const int accuracy : {2, 4, 6, 8}) {
    const auto& weights = second_difference(accuracy);
    for (int power = 0; power <= accuracy; power += 2) {
      double sum = power == 0 ? weights[0] : 0;
      for (int k = 1; k <= 4; ++k) sum += 2 * weights[static_cast<std::size_t>(k)] * std::pow(k, power);
      EXPECT_NEAR(sum, power == 2 ? 2 : 0, 1e-11) << accuracy << " " << power;
    }
  }
}

TEST(HeatProblem, HigherAccuracyIsHigher) {
  const double coarse = heat_error(1, 16, 4, 0.05), fine = heat_error(1, 32, 4, 0.05);
  EXPECT_GT(std::log2(coarse / fine), 3.5);
  EXPECT_LT(heat_error(1, 16, 6, 0.05), coarse);
}

// Rounded one by one, 0.1 and four times 0.225 sum to 1 - 2.2e-8 in float: after 10,000 steps a plate would have lost
// heat.
template <class T>
void weights_add_up(double allowed) {
  for (const std::size_t axes : {1, 2, 3}) {
    for (const int accuracy : {2, 4, 6, 8}) {
      for (const double share : {0.9, 0.7, 0.123, 0.01}) {
        const std::vector<double> spacing(axes, 1);
        const Heat heat_of{
            .dt = share * heat_limit(accuracy) / static_cast<double>(axes), .spacing = spacing, .accuracy = accuracy};
        const Update<T> spreads = heat<T>(heat_of);
        double sum = 0;
        for (const Term& term : *spreads.linear) sum += term.weight;
        EXPECT_NEAR(sum, 1, allowed) << axes << " axes, accuracy " << accuracy << ", " << share;
        if (accuracy > 2) continue;
        const Update<T> swings = wave<T>({.dt = std::sqrt(share / static_cast<double>(axes)), .spacing = spacing});
        sum = 0;
        for (const Term& term : *swings.linear) sum += term.to == 0 && term.field == 0 ? term.weight : 0;
        EXPECT_NEAR(sum, 2, allowed) << "wave, " << axes << " axes, " << share;
      }
    }
  }
}
TEST(HeatProblem, WeightsAddUpToOneAndAWavesToTwo) {
  weights_add_up<float>(0);
  weights_add_up<double>(1e-15);  // the sums here are rounded too
}

TEST(HeatProblem, AnUnstableStepIsRefusedWithOneThatWouldDo) {
  // The paper's demo: stable for a side of 16.64 cm and not for 16.
  Heat heat{.alpha = 0.4, .dt = 1e-6, .spacing = {1.3e-3, 1.3e-3}};
  EXPECT_NEAR(heat_number(heat), 0.4734, 1e-4);
  EXPECT_NO_THROW(stencil::heat<float>(heat));
  heat.spacing = {1.25e-3, 1.25e-3};
  const std::string message = complaint([&] { stencil::heat<float>(heat); });
  EXPECT_THAT(message, HasSubstr("unstable"));
  EXPECT_THAT(message, HasSubstr("0.512"));
  EXPECT_THAT(message, HasSubstr("9.766e-07"));
  EXPECT_DOUBLE_EQ(heat_limit(2), 0.5);
  EXPECT_DOUBLE_EQ(heat_limit(4), 0.375);
  EXPECT_THAT(complaint([] { stencil::heat<float>({.dt = -1, .spacing = {1}}); }), HasSubstr("time step"));
  EXPECT_THAT(complaint([] { stencil::heat<float>({.dt = 0.1, .spacing = {}}); }), HasSubstr("axes"));
  EXPECT_THAT(complaint([] { stencil::heat<float>({.dt = 0.1, .spacing = {0}}); }), HasSubstr("spacing of 0"));
  EXPECT_THAT(complaint([] { stencil::heat<float>({.alpha = std::nan(""), .dt = 0.1, .spacing = {1}}); }),
              HasSubstr("alpha of nan"));
  EXPECT_THAT(complaint([] { stencil::heat<float>({.dt = 0.1, .spacing = {1}, .accuracy = 3}); }),
              HasSubstr("accuracy"));
}

TEST(HeatProblem, JustBelowTheLimitTheFastestModeDecaysAndJustAboveItWouldGrow) {
  for (const int accuracy : {2, 4, 6, 8}) {
    const double limit = heat_limit(accuracy);
    Heat heat{.alpha = 1, .dt = 0.999 * limit, .spacing = {1}, .accuracy = accuracy};
    Grid<double> grid({16});
    for (std::size_t i = 0; i < 16; ++i) grid(i) = i % 2 == 0 ? 1 : -1;
    test::advance(stencil::heat<double>(heat), {.shape = {16}, .borders = Borders::all(Border::periodic)}, grid, 100);
    EXPECT_LT(std::abs(grid(0)), 1);
    EXPECT_NEAR(std::abs(grid(0)), std::pow(1 - 2 * 0.001, 100), 1e-9) << accuracy;
    heat.dt = limit;
    EXPECT_THAT(complaint([&] { stencil::heat<double>(heat); }), HasSubstr("unstable"));
  }
}

// --- wave -----------------------------------------------------------------------------------------------------------

double wave_error(std::size_t n, Border border) {
  const double dx = 1.0 / static_cast<double>(n), dt = 0.5 * dx;
  const auto steps = static_cast<std::size_t>(std::lround(0.75 / dt));
  // Cosine modes have zero slope at the sides (mirror) or whole periods (periodic).
  const double k = border == Border::periodic ? 2 * pi : pi, omega = std::sqrt(2.0) * k;
  const auto exact = [&](std::size_t y, std::size_t x, double t) {
    return std::cos(k * (static_cast<double>(x) + 0.5) * dx) * std::cos(k * (static_cast<double>(y) + 0.5) * dx) *
           std::cos(omega * t);
  };
  Grid<double> grid({n, n}, 2);
  for (std::size_t y = 0; y < n; ++y) {
    for (std::size_t x = 0; x < n; ++x) {
      grid.field(0)[y * n + x] = exact(y, x, 0);
      grid.field(1)[y * n + x] = exact(y, x, -dt);
    }
  }
  test::advance(stencil::wave<double>({.speed = 1, .dt = dt, .spacing = {dx, dx}}),
                {.shape = {n, n}, .borders = Borders::all(border)}, grid, steps);
  double worst = 0;
  for (std::size_t y = 0; y < n; ++y) {
    for (std::size_t x = 0; x < n; ++x) {
      worst = ridge::test::worse(worst, std::abs(grid(y, x) - exact(y, x, dt * static_cast<double>(steps))));
    }
  }
  return worst;
}

TEST(WaveProblem, StandingWavesToSecondOrder) {
  for (const Border border : {Border::periodic, Border::mirror}) {
    const double coarse = wave_error(16, border), fine = wave_error(32, border);
    EXPECT_LT(fine, 0.02);
    EXPECT_NEAR(std::log2(coarse / fine), 2, 0.2);
  }
}

TEST(WaveProblem, AtTheCourantLimitALineIsExact) {
  const std::size_t n = 40;
  Grid<double> grid({n}, 2);
  for (std::size_t i = 0; i < n; ++i) {
    grid.field(0)[i] = i == 10 ? 1 : 0;
    grid.field(1)[i] = i == 9 ? 1 : 0;  // the pulse came from the left
  }
  test::advance(stencil::wave<double>({.speed = 2, .dt = 0.5, .spacing = {1}}),
                {.shape = {n}, .borders = Borders::all(Border::periodic)}, grid, 65);
  for (std::size_t i = 0; i < n; ++i) EXPECT_DOUBLE_EQ(grid(i), i == (10 + 65) % n ? 1 : 0);
}

TEST(WaveProblem, AnUnstableStepIsRefused) {
  EXPECT_THAT(complaint([] { stencil::wave<float>({.speed = 1, .dt = 0.8, .spacing = {1, 1}}); }), HasSubstr("0.7071"));
  EXPECT_THAT(complaint([] { stencil::wave<float>({.speed = 1, .dt = 0, .spacing = {1, 1}}); }), HasSubstr("above 0"));
}

// --- Euler ----------------------------------------------------------------------------------------------------------

TEST(Riemann, SodsTubeHasThePublishedStates) {
  const Gas left{1, 0, 0, 1}, right{0.125, 0, 0, 0.1};
  const Gas before = riemann(left, right, 1.4, 0.9), after = riemann(left, right, 1.4, 0.95);
  EXPECT_NEAR(before.pressure, 0.30313, 1e-5);  // Toro, table 4.2
  EXPECT_NEAR(before.u, 0.92745, 1e-5);
  EXPECT_NEAR(before.density, 0.42632, 1e-5);
  EXPECT_NEAR(after.density, 0.26557, 1e-5);
  EXPECT_EQ(riemann(left, right, 1.4, 2).density, 0.125);
  EXPECT_EQ(riemann(left, right, 1.4, -1.3).density, 1);
  EXPECT_NEAR(riemann(left, right, 1.4, 1.7521).density, 0.26557, 1e-5);  // the shock runs at 1.75216
  EXPECT_NEAR(riemann_speed(left, right, 1.4), 2.19157, 1e-4);
  const Gas strong = riemann({1, 0, 0, 1000}, {1, 0, 0, 0.01}, 1.4, 19.5);  // test 3 of the same table
  EXPECT_NEAR(strong.pressure, 460.894, 1e-2);
  EXPECT_NEAR(strong.density, 0.57506, 1e-4);
  EXPECT_THAT(complaint([] { riemann({1, -20, 0, 1}, {1, 20, 0, 1}, 1.4, 0); }), HasSubstr("vacuum"));
}

// Mean error of density along x (or y) at t = 0.2.
double sod_error(std::size_t n, bool along_y) {
  const Gas left{1, 0, 0, 1}, right{0.125, 0, 0, 0.1};
  const double dx = 1.0 / static_cast<double>(n), time = 0.2;
  Euler euler{.dt = 0, .dy = dx, .dx = dx};
  const auto steps = static_cast<std::size_t>(std::ceil(time * 2 * 2.2 / dx / 0.8));
  euler.dt = time / static_cast<double>(steps);
  const std::size_t across = 3;
  Grid<double> grid(along_y ? std::vector<std::size_t>{n, across} : std::vector<std::size_t>{across, n}, 4);
  for (std::size_t i = 0; i < grid.cells(); ++i) {
    const std::size_t at = along_y ? i / across : i % n;
    const Gas& gas = at < n / 2 ? left : right;
    grid.field(0)[i] = gas.density;
    grid.field(3)[i] = gas.pressure / 0.4;
  }
  Borders borders = Borders::all(Border::periodic);
  borders.low[along_y ? 0 : 1] = borders.high[along_y ? 0 : 1] = Border::mirror;
  test::advance(stencil::euler<double>(euler), {.shape = grid.shape(), .borders = borders}, grid, steps);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    const double x = (static_cast<double>(i) + 0.5) * dx - 0.5;
    const double density = grid.field(0)[along_y ? i * across + 1 : n + i];
    sum += std::abs(density - riemann(left, right, 1.4, x / time).density);
  }
  return sum / static_cast<double>(n);
}

TEST(EulerProblem, SodsTubeConvergesAtTheOrderOfShocks) {
  const double coarse = sod_error(100, false), fine = sod_error(200, false);
  EXPECT_LT(coarse, 0.008);  // a first-order scheme has about 0.02
  EXPECT_LT(fine, 0.0045);
  EXPECT_GT(std::log2(coarse / fine), 0.75);  // shocks allow at most first order
  EXPECT_NEAR(sod_error(100, true), coarse, 1e-9);
}

// Mean error of density after a vortex has crossed the periodic square once along the diagonal.
double vortex_error(std::size_t n) {
  const double side = 10, dx = side / static_cast<double>(n), gamma = 1.4, strength = 5;
  const auto exact = [&](double x, double y) {
    const double r2 = x * x + y * y, swirl = strength / (2 * pi) * std::exp((1 - r2) / 2);
    const double temperature = 1 - (gamma - 1) * strength * strength / (8 * gamma * pi * pi) * std::exp(1 - r2);
    const double density = std::pow(temperature, 1 / (gamma - 1));
    return Gas{density, 1 - y * swirl, 1 + x * swirl, density * temperature};
  };
  Euler euler{.gamma = gamma, .dt = 0, .dy = dx, .dx = dx};
  const double time = side;  // once around
  const auto steps = static_cast<std::size_t>(std::ceil(time * 2 * 2.8 / dx / 0.8));
  euler.dt = time / static_cast<double>(steps);
  Grid<double> grid({n, n}, 4);
  const auto at = [&](std::size_t i) { return (static_cast<double>(i) + 0.5) * dx - side / 2; };
  for (std::size_t y = 0; y < n; ++y) {
    for (std::size_t x = 0; x < n; ++x) {
      const Gas gas = exact(at(x), at(y));
      grid.field(0)[y * n + x] = gas.density;
      grid.field(1)[y * n + x] = gas.density * gas.u;
      grid.field(2)[y * n + x] = gas.density * gas.v;
      grid.field(3)[y * n + x] = gas.pressure / (gamma - 1) + gas.density * (gas.u * gas.u + gas.v * gas.v) / 2;
    }
  }
  const Grid<double> before = grid;
  test::advance(stencil::euler<double>(euler), {.shape = {n, n}, .borders = Borders::all(Border::periodic)}, grid,
                steps);
  double error = 0;
  for (std::size_t i = 0; i < n * n; ++i) error += std::abs(grid.field(0)[i] - before.field(0)[i]);
  // Conservation: fluxes leave one cell and enter the next.
  for (std::size_t field = 0; field < 4; ++field) {
    const auto sum = [&](const Grid<double>& g) {
      return std::accumulate(g.field(field).begin(), g.field(field).end(), 0.0);
    };
    EXPECT_NEAR(sum(grid) / sum(before), 1, 1e-11) << field;
  }
  return error / static_cast<double>(n * n);
}

TEST(EulerProblem, TheVortexKeepsItsShapeToSecondOrder) {
  const double coarse = vortex_error(40), fine = vortex_error(80);
  EXPECT_LT(fine, 0.002);
  EXPECT_GT(std::log2(coarse / fine), 1.8);
}

// The row kernel and the recorded expression, which devices use, give identical results.
template <class T>
void rows_equal_the_expression() {
  for (const auto& shape : {std::vector<std::size_t>{7, 9}, {13, 150}, {5, 5}, {41, 271}, {6, 133}}) {
    Grid<T> grid(shape, 4), expected(shape, 4);
    for (std::size_t i = 0; i < grid.cells(); ++i) {
      grid.field(0)[i] = static_cast<T>(0.5 + 0.01 * static_cast<double>(i * 37 % 101));
      grid.field(1)[i] = static_cast<T>(0.02 * static_cast<double>(i * 53 % 103) - 1);
      grid.field(2)[i] = static_cast<T>(1 - 0.02 * static_cast<double>(i * 71 % 97));
      grid.field(3)[i] = static_cast<T>(4 + 0.03 * static_cast<double>(i * 29 % 89));
    }
    for (const Border border : {Border::periodic, Border::fixed, Border::mirror}) {
      const auto update = stencil::euler<T>({.gamma = 1.4, .dt = 0.04, .dy = 0.7, .dx = 0.9});
      const Problem problem{.shape = shape, .borders = Borders::all(border)};
      Grid<T> result = grid;
      expected = grid;
      test::advance(update, problem, result, 3);
      reference(update, problem, expected, 3);
      EXPECT_TRUE(std::equal(result.all().begin(), result.all().end(), expected.all().begin()))
          << shape[0] << "x" << shape[1] << " " << to_string(border);
    }
  }
}
TEST(EulerProblem, RowsEqualTheExpression) {
  rows_equal_the_expression<float>();
  rows_equal_the_expression<double>();
}

TEST(EulerProblem, GasAtRestStaysAtRest) {
  Grid<float> grid({7, 9}, 4);
  for (std::size_t i = 0; i < grid.cells(); ++i) {
    grid.field(0)[i] = 1.5f;
    grid.field(3)[i] = 2.5f;
  }
  const Grid<float> before = grid;
  test::advance(stencil::euler<float>({.dt = 0.1}), {.shape = {7, 9}, .borders = Borders::all(Border::mirror)}, grid,
                5);
  EXPECT_TRUE(std::equal(grid.all().begin(), grid.all().end(), before.all().begin()));
  EXPECT_THAT(complaint([] { stencil::euler<float>({.dt = 0}); }), HasSubstr("time step"));
  EXPECT_THAT(complaint([] { stencil::euler<float>({.gamma = 1, .dt = 1}); }), HasSubstr("gamma"));
  EXPECT_NEAR(courant_number(Euler{.dt = 0.1, .dy = 2, .dx = 1}, Gas{1.4, 3, -1, 1}), 0.1 * (4 + 1), 1e-12);
}

// --- automata -------------------------------------------------------------------------------------------------------

template <class T>
void put(Grid<T>& grid, const std::vector<std::string>& picture, std::size_t y, std::size_t x) {
  for (std::size_t r = 0; r < picture.size(); ++r) {
    for (std::size_t c = 0; c < picture[r].size(); ++c) grid(y + r, x + c) = picture[r][c] == '#';
  }
}

template <class T>
void glider_flies() {
  const std::vector<std::string> glider{".#.", "..#", "###"};
  Grid<T> grid({12, 15}), later({12, 15});
  put(grid, glider, 2, 3);
  const Problem problem{.shape = grid.shape(), .borders = Borders::all(Border::periodic)};
  test::advance(life<T>(), problem, grid, 4 * 5);
  put(later, glider, 7, 8);
  EXPECT_TRUE(std::equal(grid.all().begin(), grid.all().end(), later.all().begin()));
  test::advance(life<T>(), problem, grid, 4 * (60 - 5));  // a multiple of both sides, so that it returns to its start
  Grid<T> home({12, 15});
  put(home, glider, 2, 3);
  EXPECT_TRUE(std::equal(grid.all().begin(), grid.all().end(), home.all().begin()));
}

TEST(LifeProblem, AGliderFlies) {
  glider_flies<std::int32_t>();
  glider_flies<std::uint8_t>();
}

TEST(LifeProblem, RulesDiffer) {
  // Six neighbours give birth in HighLife but not in Life.
  for (const auto& [rule, expected] : {std::pair<std::string, int>{"B3/S23", 0}, {"B36/S23", 1}, {"s23/b36", 1}}) {
    Grid<std::int32_t> grid({5, 5});
    put(grid, {"###", "...", "###"}, 1, 1);
    test::advance(life<std::int32_t>(rule), {.shape = {5, 5}}, grid, 1);
    EXPECT_EQ(grid(2, 2), expected) << rule;
  }
  for (const char* bad : {"", "B3", "S23", "B9/S23", "3/23", "B3/S23/B3", "life"}) {
    EXPECT_THAT(complaint([&] { life<std::int32_t>(bad); }), HasSubstr("no rule")) << bad;
  }
}

// --- convolution ----------------------------------------------------------------------------------------------------

TEST(Convolution, EqualsTheSum) {
  const Kernel kernel = parse_kernel("1 2 3 4 5; 0 -1 0 2 0; 6 7 8 9 10.5");
  EXPECT_EQ(kernel.rows, 3u);
  EXPECT_EQ(kernel.columns, 5u);
  const std::size_t rows = 9, columns = 13;
  Grid<double> grid({rows, columns}, 3), before({rows, columns}, 3);
  for (std::size_t i = 0; i < grid.all().size(); ++i) before.all()[i] = static_cast<double>(i * i % 101);
  grid = before;
  test::advance(convolution<double>(kernel, 3), {.shape = grid.shape(), .borders = Borders::all(Border::periodic)},
                grid, 1);
  for (std::size_t field = 0; field < 3; ++field) {
    for (std::size_t y = 0; y < rows; ++y) {
      for (std::size_t x = 0; x < columns; ++x) {
        double sum = 0;
        for (std::size_t r = 0; r < 3; ++r) {
          for (std::size_t c = 0; c < 5; ++c) {
            sum += kernel.weights[r * 5 + c] *
                   before.field(field)[(y + r + rows - 1) % rows * columns + (x + c + columns - 2) % columns];
          }
        }
        EXPECT_NEAR(grid.field(field)[y * columns + x], sum, 1e-9);
      }
    }
  }
}

TEST(Convolution, KernelsByName) {
  for (const char* name : {"gauss:0.5", "gauss:2", "box:1", "box:3", "sharpen"}) {
    const Kernel kernel = parse_kernel(name);
    EXPECT_NEAR(std::accumulate(kernel.weights.begin(), kernel.weights.end(), 0.0), 1, 1e-12) << name;
    EXPECT_NO_THROW(convolution<float>(kernel));
  }
  EXPECT_EQ(parse_kernel("gauss:2").rows, 13u);
  for (const char* name : {"laplace", "sobel-x", "sobel-y"}) {
    const Kernel kernel = parse_kernel(name);
    EXPECT_EQ(std::accumulate(kernel.weights.begin(), kernel.weights.end(), 0.0), 0) << name;
  }
  for (const char* bad : {"", "blur", "gauss:", "gauss:-1", "gauss:1e9", "box:1.5", "1 2", "1 2 3; 4 5", "1 nan 3",
                          "1; 2", "gauss:inf", ";", "1 2 x"}) {
    EXPECT_THAT(complaint([&] { parse_kernel(bad); }), HasSubstr("kernel")) << bad;
  }
}

}  // namespace
}  // namespace ridge::stencil
