// Checks linear stencils of any size by identities. With periodic borders: linearity, shifts, the adjoint (the same
// weights at opposite offsets). With mirror borders and even weights: the sum of all cells.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/stencil.hpp>

#include "check/check.hpp"
#include "check/laws.hpp"
#include "check/stencil/case.hpp"

namespace ridge::check {
namespace {

using stencil::Border;

// Weights whose absolute values add up to one.
template <class T>
std::vector<stencil::Term> draw_terms(Random& random, std::size_t dimensions, bool even) {
  const int reach = static_cast<int>(random.between(1, dimensions == 3 ? 2 : 3));
  const auto offsets =
      random.chance(0.5) ? stencil::von_neumann(dimensions, reach) : stencil::moore(dimensions, std::min(reach, 2));
  const std::uint64_t seed = random.bits();
  std::vector<stencil::Term> terms;
  double sum = 0;
  for (const stencil::Offset& offset : offsets) {
    terms.push_back({.offset = offset, .weight = random_at(seed, offset, even).uniform() + 0.1});
    sum += terms.back().weight;
  }
  for (stencil::Term& term : terms) term.weight = static_cast<T>(term.weight / sum);
  return terms;
}

stencil::Problem draw_grid(Random& random, std::size_t points, std::size_t dimensions, bool mirror) {
  stencil::Problem problem;
  problem.borders = stencil::Borders::all(mirror ? Border::mirror : Border::periodic);
  problem.threads = random.below(4);
  for (std::size_t axis = 0; axis < dimensions; ++axis) {
    const double share = 1.0 / static_cast<double>(dimensions - axis);
    const auto most = static_cast<std::size_t>(std::pow(static_cast<double>(points), share));
    problem.shape.push_back(std::max<std::size_t>(8, random.length(std::max<std::size_t>(most, 8))));
    points = std::max<std::size_t>(1, points / problem.shape.back());
  }
  return problem;
}

template <class T>
double inner(const stencil::Grid<T>& a, const stencil::Grid<T>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.all().size(); ++i)
    sum += static_cast<double>(a.all()[i]) * static_cast<double>(b.all()[i]);
  return sum;
}

// <A x, y> = <x, A* y> for steps A along periodic axes; A* has the opposite offsets.
template <class T>
Outcome adjoint_law(const Device& device, const stencil::Problem& problem, std::vector<stencil::Term> terms,
                    std::size_t steps, const stencil::Grid<T>& x, const stencil::Grid<T>& ax, const stencil::Grid<T>& y,
                    double rounding) {
  for (stencil::Term& term : terms) {
    for (int& o : term.offset) o = -o;
  }
  const stencil::Plan<T> adjoint(device, stencil::linear<T>(problem.shape.size(), terms), problem,
                                 {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false});
  stencil::Grid<T> by_adjoint = y;
  adjoint.run(by_adjoint, steps);
  const double one = inner(ax, y), other = inner(x, by_adjoint);
  const double allowed = rounding * std::sqrt(inner(x, x) * inner(y, y));
  if (std::abs(one - other) <= allowed) return {};
  return {.wrong = fmt::format("adjoint: <A x, y> is {} and <x, A* y> {}, allowed {:.1e}", one, other, allowed)};
}

template <class T>
Outcome laws_of_cells(Draw& draw) {
  Random& random = draw.random;
  const std::size_t dimensions = random.between(1, 3);
  const bool mirror = random.chance(0.4);
  const std::vector<stencil::Term> terms = draw_terms<T>(random, dimensions, mirror);
  const std::size_t steps = random.between(1, 12);
  const std::uint64_t data = random.bits(), by_chance = random.bits();
  const stencil::Problem problem = draw_grid(random, draw.points, dimensions, mirror);
  const stencil::Update<T> update = stencil::linear<T>(dimensions, terms);
  draw.problem = fmt::format("{} {} {} points {} steps {} borders", sizeof(T) == 4 ? "f32" : "f64",
                             fmt::join(problem.shape, "x"), terms.size(), steps, mirror ? "mirror" : "periodic");
  const planner::Options options = some_variant(stencil::candidates(draw.device, update, problem), by_chance);
  const stencil::Plan<T> plan(draw.device, update, problem, options);
  draw.problem += ", " + chosen_by(plan.decisions());

  const auto noise = [&](std::uint64_t seed) {
    stencil::Grid<T> grid(problem.shape);
    fill_values(std::as_writable_bytes(grid.all()), sizeof(T) == 4 ? Values::float32 : Values::float64, seed);
    return grid;
  };
  const auto total = [](const stencil::Grid<T>& grid) {
    double sum = 0;
    for (const T cell : grid.all()) sum += static_cast<double>(cell);
    return sum;
  };
  // For a cell of size 1: two roundings per point and step. Leaps over many steps do not round more.
  const double rounding = static_cast<double>(2 * terms.size() * steps + 64) * std::numeric_limits<T>::epsilon();
  const stencil::Grid<T> x = noise(data);
  stencil::Grid<T> ax = x;
  const auto cells = static_cast<double>(x.cells());
  plan.run(ax, steps);
  draw.answered(std::as_writable_bytes(ax.all()));

  double weights = 0;
  for (const stencil::Term& term : terms) weights += term.weight;
  // A step multiplies the sum by the sum of the weights. The rounding errors of n cells add up like sqrt(n).
  const double expected = total(x) * std::pow(weights, static_cast<double>(steps));
  const double sum_allowed =
      4 * rounding * std::sqrt(cells) + cells * std::numeric_limits<T>::epsilon() * static_cast<double>(steps) * 0.05;
  if (!(std::abs(total(ax) - expected) <= sum_allowed))
    return {.wrong = fmt::format("the sum of all cells is {} instead of {}, allowed {:.1e}", total(ax), expected,
                                 sum_allowed)};
  const stencil::Grid<T> y = noise(data + 1);
  stencil::Grid<T> ay = y;
  plan.run(ay, steps);
  stencil::Grid<T> sum = x;
  for (std::size_t i = 0; i < sum.all().size(); ++i)
    sum.all()[i] = static_cast<T>(0.5 * x.all()[i] - 0.25 * y.all()[i]);
  plan.run(sum, steps);
  for (std::size_t i = 0; i < sum.all().size(); ++i) {
    const double right = 0.5 * static_cast<double>(ax.all()[i]) - 0.25 * static_cast<double>(ay.all()[i]);
    if (!(std::abs(static_cast<double>(sum.all()[i]) - right) <= 2 * rounding))
      return {.wrong = fmt::format("linearity: cell {} is {} instead of {}, allowed {:.1e}", i, sum.all()[i], right,
                                   2 * rounding)};
  }
  if (mirror) return {};

  // Cyclic shift along the slowest axis.
  const std::size_t rows = problem.shape[0], row = x.cells() / rows, by = 1 + random.below(rows - 1);
  stencil::Grid<T> moved = x;
  std::rotate_copy(x.all().begin(), x.all().begin() + static_cast<std::ptrdiff_t>(by * row), x.all().end(),
                   moved.all().begin());
  plan.run(moved, steps);
  for (std::size_t i = 0; i < x.cells(); ++i) {
    const auto right = static_cast<double>(ax.all()[(i + by * row) % x.cells()]);
    if (!(std::abs(static_cast<double>(moved.all()[i]) - right) <= 2 * rounding))
      return {.wrong = fmt::format("shift by {}: cell {} is {} instead of {}, allowed {:.1e}", by, i, moved.all()[i],
                                   right, 2 * rounding)};
  }
  return adjoint_law(draw.device, problem, terms, steps, x, ax, y, rounding);
}

}  // namespace

Outcome stencil_laws(Draw& draw) {
  const bool wide = draw.random.chance(0.4) && draw.device.limits().float64;
  return wide ? laws_of_cells<double>(draw) : laws_of_cells<float>(draw);
}

}  // namespace ridge::check
