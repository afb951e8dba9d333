// Checks many steps at once (the leap) against single steps in double: every border that supports leaps; even weights
// and, on the host along periodic axes, arbitrary ones; sums of two fields; runs that leap, step and leap again.
#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/stencil.hpp>
#include <ridge/stencil/problems.hpp>

#include "check/check.hpp"
#include "check/stencil/case.hpp"

namespace ridge::check {
namespace {

using stencil::Border;

// Weights that depend on the distance only, with absolute values adding up to one; arbitrary ones if `even` is false.
template <class T>
stencil::Update<T> draw_even_update(Random& random, std::size_t dimensions, int radius, bool even) {
  const std::vector<stencil::Offset> offsets =
      random.chance(0.5) ? stencil::moore(dimensions, radius) : stencil::von_neumann(dimensions, radius);
  const std::uint64_t seed = random.bits();
  std::vector<stencil::Term> terms;
  double sum = 0;
  for (const stencil::Offset& offset : offsets) {
    const double weight = 1.2 * random_at(seed, offset, even).uniform() - 0.2;
    terms.push_back({.offset = offset, .weight = weight});
    sum += std::abs(weight);
  }
  for (stencil::Term& term : terms) term.weight = static_cast<T>(term.weight / sum);
  return stencil::linear<T>(dimensions, terms);
}

template <class T>
Outcome check_leaping(Draw& draw) {
  Random& random = draw.random;
  const bool host = draw.device.is_host(), waves = random.chance(0.2);
  const std::size_t dimensions = random.between(1, 3);
  stencil::Problem problem;
  problem.leap = stencil::LeapUse::always;
  problem.threads = random.below(4);
  bool fixed = false, periodic = true;
  for (std::size_t axis = 0; axis < dimensions; ++axis) {
    const Border border = random.one_of(std::vector{Border::periodic, Border::mirror, Border::fixed});
    problem.borders.low[axis] = problem.borders.high[axis] = border;
    fixed |= border == Border::fixed;
    periodic &= border == Border::periodic;
  }
  const int radius = fixed || dimensions == 3 ? 1 : static_cast<int>(random.between(1, 3));
  const bool even = !(host && periodic && random.chance(0.4));
  // A wave's symbol stays on the unit circle below the Courant limit.
  const stencil::Update<T> update =
      waves ? stencil::wave<T>({.dt = 0.9 / std::sqrt(static_cast<double>(dimensions)) * (0.1 + 0.9 * random.uniform()),
                                .spacing = std::vector<double>(dimensions, 1.0)})
            : draw_even_update<T>(random, dimensions, radius, even);
  const std::size_t first = random.magnitude(400), between = random.below(3), last = random.magnitude(400);
  Random data(random.bits());
  const std::uint64_t by_chance = random.bits();
  std::size_t left = std::min<std::size_t>(draw.points, 1500);
  for (std::size_t axis = 0; axis < dimensions; ++axis) {
    const double share = 1.0 / static_cast<double>(dimensions - axis);
    const auto most = static_cast<std::size_t>(std::pow(static_cast<double>(left), share));
    const std::size_t least = problem.borders.low[axis] == Border::fixed ? 3 : 1;
    problem.shape.push_back(std::max(least, random.length(std::max(most, least))));
    left = std::max<std::size_t>(1, left / problem.shape.back());
  }
  const std::size_t steps = first + between + last;
  draw.problem = fmt::format("leap {} {} fields {} {} steps {} + {} + {} borders", sizeof(T) == 4 ? "f32" : "f64",
                             fmt::join(problem.shape, "x"), update.fields, update.name, first, between, last);
  for (std::size_t axis = 0; axis < dimensions; ++axis)
    draw.problem += fmt::format(" {}", to_string(problem.borders.low[axis]));
  const stencil::Plan<T> plan(draw.device, update, problem,
                              some_variant(stencil::candidates(draw.device, update, problem), by_chance));
  draw.problem += ", " + chosen_by(plan.decisions());

  stencil::Grid<T> grid(problem.shape, update.fields);
  for (T& cell : grid.all()) cell = static_cast<T>(2 * data.uniform() - 1);
  const auto expected = stepped(update, problem, grid, steps);
  stencil::Session<T> session = plan.start(grid);
  session.run(first);
  session.run(between);
  session.run(last);
  session.read(grid);
  draw.answered(std::as_writable_bytes(grid.all()));
  // Two round trips of transforms: a few roundings of the largest value each, more for a wave, whose two fields are
  // differences of large numbers; plus the roundings of the powers in double and of the steps in between.
  double largest = 1;
  for (const auto cell : expected) largest = std::max(largest, std::abs(static_cast<double>(cell)));
  // The mean of a wave is a double root: rounding errors grow with the square of the steps, in the leap's powers and in
  // the reference's steps, for both fields.
  const auto times = static_cast<double>(steps + 2);
  const double powers = (waves ? 4 * times : 8) * times * std::numeric_limits<double>::epsilon();
  const double units = waves ? 64 : 16;
  const double allowed = (2 * units * static_cast<double>(std::numeric_limits<T>::epsilon()) + powers) * largest;
  Outcome outcome;
  for (std::size_t i = 0; i < grid.all().size() && outcome.wrong.empty(); ++i) {
    const auto got = static_cast<double>(grid.all()[i]), right = static_cast<double>(expected[i]);
    if (!(std::abs(got - right) <= allowed))
      outcome.wrong = fmt::format("cell {}: {} instead of {}, allowed {:.1e}", i, got, right, allowed);
  }
  return outcome;
}

}  // namespace

Outcome check_leap(Draw& draw) {
  const bool wide = draw.random.chance(0.4) && draw.device.limits().float64;
  return wide ? check_leaping<double>(draw) : check_leaping<float>(draw);
}

}  // namespace ridge::check
