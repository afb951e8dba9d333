// The leap: any number of steps for two transforms, against steps in double.
#include <cmath>
#include <limits>
#include <random>

#include <ridge/stencil/problems.hpp>

#include "stencil/leap/leap.hpp"
#include "support.hpp"
#include "support/worst.hpp"

namespace ridge::stencil {
namespace {

using test::largest_difference;
using test::largest_value;
using test::random_grid;

const planner::Options kQuick{.effort = Effort::quick, .use_wisdom = false};

std::string borders_text(const Problem& problem) {
  std::string text;
  for (std::size_t axis = 0; axis < problem.shape.size(); ++axis) {
    text += std::to_string(problem.shape[axis]) + " " + to_string(problem.borders.low[axis]) + ", ";
  }
  return text;
}

// Compares with steps in double, for every T. Allowed: a few units in the last place of the largest initial value, and
// steps times 2^-52 of it.
template <class T>
void check_leap(const Update<T>& update, Problem problem, std::size_t steps, double units = 16) {
  problem.leap = LeapUse::always;
  problem.threads = 2;
  const Plan<T> leaping(host(), update, problem, kQuick);
  ASSERT_EQ(leaping.leaps_from(), 1u);
  const Grid<T> start = random_grid<T>(problem.shape, update.fields, 3);
  Grid<double> expected(problem.shape, update.fields);
  std::copy(start.all().begin(), start.all().end(), expected.all().begin());
  reference_in_double(update, problem, expected, steps);
  Grid<T> result = start;
  leaping.run(result, steps);
  double largest = largest_value(start);
  ridge::test::Worst worst;
  for (std::size_t i = 0; i < expected.all().size(); ++i) {
    worst.add(std::fabs(static_cast<double>(result.all()[i]) - expected.all()[i]));
    largest = std::max(largest, std::fabs(expected.all()[i]));
  }
  const double allowed = units * static_cast<double>(std::numeric_limits<T>::epsilon()) * largest +
                         8 * static_cast<double>(steps + 1) * std::numeric_limits<double>::epsilon() * largest;
  EXPECT_LE(worst.value(), allowed) << borders_text(problem) << steps << " steps, " << update.name;
}

// Weights of a random even stencil whose symbol stays within [-1, 1].
template <class T>
Update<T> random_even(std::size_t dimensions, int radius, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<Term> terms;
  double sum = 0;
  for (const Offset& offset : moore(dimensions, radius)) {
    std::uint32_t mixed = seed;
    for (const int o : offset) mixed = mixed * 31 + static_cast<std::uint32_t>(std::abs(o));
    const double weight = std::uniform_real_distribution<double>(-0.5, 1)(random = std::mt19937(mixed));
    terms.push_back({offset, weight});
    sum += std::fabs(weight);
  }
  for (Term& term : terms) term.weight = static_cast<double>(static_cast<T>(term.weight / sum));
  return linear<T>(dimensions, terms);
}

TEST(Leap, KeepsTheSumOfTheCells) {
  Problem problem{.shape = {40, 48}, .borders = Borders::all(Border::periodic)};
  problem.leap = LeapUse::always;
  Grid<float> grid(problem.shape);
  std::fill(grid.all().begin(), grid.all().end(), 1.0f);
  Plan<float>(host(), heat<float>({.dt = 0.225, .spacing = {1, 1}}), problem, kQuick).run(grid, 100'000);
  for (const float cell : grid.all()) ASSERT_NEAR(cell, 1, 1e-6);
}

TEST(Leap, EveryBorderOfEveryAxisInOneToThreeDimensions) {
  const std::array kinds{Border::periodic, Border::mirror, Border::fixed};
  const std::vector<std::vector<std::size_t>> shapes{{37}, {13, 22}, {7, 11, 6}};
  for (const auto& shape : shapes) {
    const std::size_t dimensions = shape.size();
    for (std::size_t code = 0; code < (dimensions == 1 ? 3u : dimensions == 2 ? 9u : 27u); ++code) {
      Problem problem{.shape = shape};
      for (std::size_t axis = 0, rest = code; axis < dimensions; ++axis, rest /= 3) {
        problem.borders.low[axis] = problem.borders.high[axis] = kinds[rest % 3];
      }
      check_leap(random_even<float>(dimensions, 1, 5), problem, 1);
      check_leap(random_even<float>(dimensions, 1, 6), problem, 50);
      check_leap(random_even<double>(dimensions, 1, 7), problem, 101);
    }
  }
}

// A session whose leap was refused continues step by step and reports leaps_from() == 0.
TEST(Leap, ASessionOfGrowingModesStopsLeaping) {
  Problem problem{.shape = {12, 12}, .borders = Borders::all(Border::periodic)};
  problem.leap = LeapUse::always;
  const auto grows = linear<double>(2, {{{0, 0, 0}, 1.5}, {{0, 0, 1}, 0.5}, {{0, 0, -1}, 0.5}});
  const auto shrinks = linear<double>(2, {{{0, 0, 0}, 0.5}, {{0, 0, 1}, 0.1}, {{0, 0, -1}, 0.1}});
  const Grid<double> start = random_grid<double>(problem.shape, 1, 3);
  for (const auto* update : {&grows, &shrinks}) {
    auto session = Plan<double>(host(), *update, problem, kQuick).start(start);
    EXPECT_EQ(session.leaps_from(), 1u);
    session.run(40);
    EXPECT_EQ(session.leaps_from(), update == &grows ? 0u : 1u);
    EXPECT_EQ(session.steps(), 40u);
  }
}

// Reads that the sum does not use still widen the border.
TEST(Leap, ReadsThatTheSumDoesNotUse) {
  const auto sum = update<double>(2, [](auto u) {
    [[maybe_unused]] const auto unused = u(1, 0);
    return 0.5 * u(0, 0) + 0.25 * (u(0, -1) + u(0, 1));
  });
  for (const Border border : {Border::periodic, Border::mirror, Border::fixed})
    check_leap(sum, {.shape = {9, 12}, .borders = Borders::all(border)}, 40);
}

TEST(Leap, AwkwardShapes) {
  for (const Border border : {Border::periodic, Border::mirror, Border::fixed}) {
    for (const std::size_t n : {1u, 2u, 3u, 4u, 5u, 17u, 101u}) {
      if (border == Border::fixed && n < 3) continue;
      check_leap(random_even<float>(1, 1, 1), {.shape = {n}, .borders = Borders::all(border)}, 33);
      check_leap(random_even<double>(2, 1, 2), {.shape = {n, 5}, .borders = Borders::all(border)}, 20);
      check_leap(random_even<double>(2, 1, 2), {.shape = {5, n}, .borders = Borders::all(border)}, 21);
      if (border != Border::fixed) {
        check_leap(random_even<double>(2, 3, 4), {.shape = {n, 9}, .borders = Borders::all(border)}, 15);
      }
    }
  }
}

TEST(Leap, UnevenWeightsAlongPeriodicAxes) {
  const auto wind = linear<double>(2, {{{0, 0, 0}, 0.4}, {{0, 0, -1}, 0.3}, {{0, 1, 0}, 0.2}, {{0, 1, -2}, 0.1}});
  check_leap(wind, {.shape = {19, 24}, .borders = Borders::all(Border::periodic)}, 200);
  const auto along = linear<float>(2, {{{0, 0, 0}, 0.5}, {{0, 0, -1}, 0.25}, {{0, 1, 0}, 0.125}, {{0, -1, 0}, 0.125}});
  for (const Border other : {Border::mirror, Border::fixed}) {
    Problem problem{.shape = {18, 15}};
    problem.borders = {{other, Border::periodic, Border::fixed}, {other, Border::periodic, Border::fixed}};
    check_leap(along, problem, 77);
  }
}

TEST(Leap, Waves) {
  for (const Border border : {Border::periodic, Border::mirror, Border::fixed}) {
    for (const std::size_t steps : {1u, 2u, 300u}) {
      const auto pond = wave<double>({.dt = 0.6, .spacing = {1, 1}});
      check_leap(pond, {.shape = {21, 34}, .borders = Borders::all(border)}, steps, 64);
      check_leap(wave<float>({.dt = 0.9, .spacing = {1}}), {.shape = {64}, .borders = Borders::all(border)}, steps, 64);
    }
  }
  check_leap(wave<double>({.dt = 0.5, .spacing = {1, 1, 1}}), {.shape = {9, 8, 10}}, 100, 64);
}

TEST(Leap, AMillionStepsAndTheSteadyState) {
  // Between fixed borders that fall linearly from 1 to 0 the steady state is a plane.
  const auto plate = heat<float>({.dt = 0.2, .spacing = {1, 1}});
  const std::vector<std::size_t> shape{33, 50};
  Grid<float> grid = random_grid<float>(shape);
  const auto plane = [&](std::size_t x) { return 1 - static_cast<float>(x) / 49; };
  for (std::size_t y = 0; y < 33; ++y) {
    for (std::size_t x = 0; x < 50; ++x) {
      if (y == 0 || y == 32 || x == 0 || x == 49) grid(y, x) = plane(x);
    }
  }
  // The sum of the float weights differs from one. The slowest mode decays by 0.0027 per step, which amplifies the
  // difference 370 times: the steady state differs from the plane by some millionths. So does that of steps in double.
  Grid<double> expected(shape);
  for (std::size_t y = 0; y < 33; ++y) {
    for (std::size_t x = 0; x < 50; ++x) expected(y, x) = grid(0, x);
  }
  reference_in_double(plate, {.shape = shape}, expected, 4000);
  Grid<float> later = grid, last = grid;
  const auto made = plan(host(), plate, {.shape = shape}, kQuick);
  const double off = 16 * static_cast<double>(std::numeric_limits<float>::epsilon());
  made.run(later, 1'000'000);
  made.steady(last);
  for (std::size_t y = 0; y < 33; ++y) {
    for (std::size_t x = 0; x < 50; ++x) {
      EXPECT_NEAR(last(y, x), expected(y, x), off);
      EXPECT_NEAR(later(y, x), expected(y, x), off);
      EXPECT_NEAR(later(y, x), plane(x), 1e-5);
    }
  }
  // With mirror borders the steady state is the mean.
  Grid<double> closed = random_grid<double>({12, 15});
  double mean = 0;
  for (const double cell : closed.all()) mean += cell / 180;
  plan(host(), heat<double>({.dt = 0.2, .spacing = {1, 1}}),
       {.shape = {12, 15}, .borders = Borders::all(Border::mirror)}, kQuick)
      .steady(closed);
  for (const double cell : closed.all()) EXPECT_NEAR(cell, mean, 1e-12);
}

TEST(Leap, SessionsContinueAfterALeap) {
  const auto plate = heat<double>({.dt = 0.2, .spacing = {1, 1}});
  const Problem problem{.shape = {40, 31}};
  const Grid<double> start = random_grid<double>(problem.shape);
  Grid<double> expected = start, result(problem.shape);
  reference(plate, problem, expected, 3007);
  const auto made = plan(host(), plate, problem, kQuick);
  ASSERT_GT(made.leaps_from(), 0u);
  ASSERT_LE(made.leaps_from(), 3000u);
  auto session = made.start(start);
  session.run(3);
  session.run(3000);
  session.run(4);
  session.read(result);
  EXPECT_EQ(session.steps(), 3007u);
  EXPECT_LE(largest_difference(result, expected), 1e-12 * largest_value(start));
  // LeapUse::never computes step by step.
  Problem steps = problem;
  steps.leap = LeapUse::never;
  Grid<double> stepped = start;
  plan(host(), plate, steps, {.effort = Effort::quick, .use_wisdom = false, .variant = "base"}).run(stepped, 3007);
  EXPECT_TRUE(test::same_bits(stepped, expected));
}

TEST(Leap, GrowingModesAndNaNAreComputedStepByStep) {
  const auto growing = linear<float>(1, {{{0, 0, 0}, 1.5}, {{0, 0, 1}, 0.1}, {{0, 0, -1}, 0.1}});
  const Problem problem{.shape = {50}, .borders = Borders::all(Border::mirror), .leap = LeapUse::always};
  Grid<float> grid({50}), expected({50});
  grid(20) = expected(20) = 1;
  reference(growing, problem, expected, 30);
  plan(host(), growing, problem, kQuick).run(grid, 30);
  for (std::size_t i = 0; i < 50; ++i) EXPECT_NEAR(grid(i), expected(i), 1e-5 * std::fabs(expected(i))) << i;
  const auto blur = linear<float>(1, {{{0, 0, 0}, 0.5}, {{0, 0, 1}, 0.25}, {{0, 0, -1}, 0.25}});
  Grid<float> hole({200});
  hole(100) = std::numeric_limits<float>::quiet_NaN();
  Problem long_line = problem;
  long_line.shape = {200};
  plan(host(), blur, long_line, kQuick).run(hole, 30);
  EXPECT_TRUE(std::isnan(hole(71)));
  EXPECT_EQ(hole(69), 0);
}

TEST(Leap, ExplainNamesTheReasonForSteps) {
  const auto why = [](const auto& update, const Problem& problem) {
    return plan(host(), update, problem, kQuick).explain();
  };
  const Borders mixed{{Border::fixed, Border::fixed, Border::fixed}, {Border::mirror, Border::fixed, Border::fixed}};
  EXPECT_NE(why(linear<float>(1, weighted(von_neumann(1, 1), 0.3)), {.shape = {90}, .borders = mixed})
                .find("along x one side is fixed"),
            std::string::npos);
  EXPECT_NE(why(linear<float>(1, weighted(von_neumann(1, 2), 0.2)), {.shape = {90}})
                .find("needs radius 1 along an axis with fixed borders: radius 2"),
            std::string::npos);
  EXPECT_NE(why(life<std::uint8_t>(), {.shape = {30, 30}}).find("needs floating-point cells"), std::string::npos);
  EXPECT_NE(why(heat<float>({.dt = 0.2, .spacing = {1, 1}}), {.shape = {90, 90}}).find("steps at once: one leap"),
            std::string::npos);
  EXPECT_THROW(plan(host(), life<std::uint8_t>(), {.shape = {30, 30}, .leap = LeapUse::always}, kQuick), Error);
  Grid<float> grid({64});
  EXPECT_THROW(plan(host(), linear<float>(1, {{{0, 0, 0}, -1.0}, {{0, 0, 1}, 0.0}}),
                    {.shape = {64}, .borders = Borders::all(Border::periodic)}, kQuick)
                   .steady(grid),
               Error);
}

}  // namespace
}  // namespace ridge::stencil
