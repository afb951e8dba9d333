// Checks stencils of any shape, type and border against plain loops in wider precision; integers exactly.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <ridge/stencil.hpp>

#include "check/check.hpp"
#include "check/stencil/case.hpp"

namespace ridge::check {
namespace {

using stencil::Border;
using stencil::Grid;

template <class T>
constexpr const char* name_of() {
  if constexpr (std::is_same_v<T, float>) return "f32";
  if constexpr (std::is_same_v<T, double>) return "f64";
  if constexpr (std::is_same_v<T, std::int32_t>) return "i32";
  return "u8";
}

stencil::Borders draw_borders(Random& random) {
  stencil::Borders borders;
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (random.chance(0.3)) {
      borders.low[axis] = borders.high[axis] = Border::periodic;
    } else {
      borders.low[axis] = random.chance(0.5) ? Border::fixed : Border::mirror;
      borders.high[axis] = random.chance(0.5) ? Border::fixed : Border::mirror;
    }
  }
  return borders;
}

std::string in_words(const stencil::Borders& borders, std::size_t dimensions) {
  std::string text;
  for (std::size_t axis = 0; axis < dimensions; ++axis)
    text += fmt::format("{}{}-{}", axis == 0 ? "" : ", ", to_string(borders.low[axis]), to_string(borders.high[axis]));
  return text;
}

template <class T>
void fill(Grid<T>& grid, Random& random, bool life) {
  for (T& cell : grid.all()) {
    if constexpr (std::is_floating_point_v<T>) {
      cell = static_cast<T>(2 * random.uniform() - 1);
    } else {
      cell = life ? static_cast<T>(random.below(2)) : static_cast<T>(random.bits());
    }
  }
}

// Compares cells: NaN must match NaN; numbers may differ by rounding.
template <class T>
std::string difference(const Grid<T>& got, const std::vector<WideCell<T>>& expected, double allowed) {
  for (std::size_t i = 0; i < got.all().size(); ++i) {
    const auto a = static_cast<double>(got.all()[i]);
    const auto b = static_cast<double>(expected[i]);
    if (std::isfinite(a) != std::isfinite(b) || (std::isfinite(b) && !(std::abs(a - b) <= allowed))) {
      std::vector<std::size_t> place;
      std::size_t rest = i % got.cells();
      for (std::size_t axis = got.shape().size(); axis-- > 0; rest /= got.shape()[axis])
        place.insert(place.begin(), rest % got.shape()[axis]);
      return fmt::format("field {}, cell {}: {} instead of {}, allowed {:.1e}", i / got.cells(), fmt::join(place, ","),
                         a, b, allowed);
    }
  }
  return {};
}

// Runs the steps at once, on device buffers, or in two parts, so that temporal blocks have remainders in both parts.
struct Cut {
  std::size_t first = 0;  // steps of the first part; 0: a single part
  bool buffers = false;
};

template <class T>
void advance_buffers(const stencil::Plan<T>& plan, Grid<T>& grid, std::size_t steps, const Grid<T>* coefficients) {
  const Device& device = plan.device();
  Queue queue = device.queue();
  const Buffer cells = device.buffer(grid.all().size_bytes(), {.name = "check stencil"});
  Buffer given;
  queue.upload(std::as_const(grid).all(), cells);
  if (coefficients != nullptr) {
    given = device.buffer(coefficients->all().size_bytes(), {.name = "check coefficients"});
    queue.upload(coefficients->all(), given);
  }
  plan.enqueue(queue, cells, cells, steps, given);
  queue.download(cells, grid.all());
  queue.finish();
}

template <class T>
void advance(const stencil::Plan<T>& plan, Grid<T>& grid, std::size_t steps, const Grid<T>* coefficients,
             const Cut& cut) {
  const std::size_t first = cut.first;
  if (cut.buffers) return advance_buffers(plan, grid, steps, coefficients);
  if (first == 0) return plan.run(grid, steps, coefficients);
  stencil::Session<T> session = plan.start(grid, coefficients);
  session.run(first);
  session.run(steps - first);
  session.read(grid);
}

template <class T>
Outcome check_cells(Draw& draw) {
  Random& random = draw.random;
  const bool system = random.chance(0.4);
  Drawn<T> drawn = system ? draw_system<T>(random) : draw_linear<T>(random, random.between(1, 3));
  const std::size_t dimensions = drawn.update.dimensions;
  stencil::Problem problem;
  problem.borders = draw_borders(random);
  problem.threads = random.below(4);
  // Enough steps for every temporal block; growing solutions stop early.
  std::size_t steps =
      random.chance(0.5) ? random.below(4) : random.below(drawn.growth > 1.5 && !std::is_integral_v<T> ? 7 : 25);
  const bool odd = std::is_floating_point_v<T> && random.chance(0.2);
  const bool infinite = random.chance(0.3);
  const std::uint64_t by_chance = random.bits();
  Random data(random.bits());
  std::size_t left = draw.points;
  for (std::size_t axis = 0; axis < dimensions; ++axis) {
    const double share = 1.0 / static_cast<double>(dimensions - axis);
    const auto most = static_cast<std::size_t>(std::pow(static_cast<double>(left), share));
    const std::size_t least = 2 * static_cast<std::size_t>(drawn.update.radius[3 - dimensions + axis]) + 1;
    problem.shape.push_back(std::max(least, random.length(std::max(most, least))));
    left = std::max<std::size_t>(1, left / problem.shape.back());
  }
  // The reference evaluates an expression tree per cell.
  const double work = static_cast<double>(drawn.roundings + 1) * static_cast<double>(draw.points);
  while (steps > 4 && work * static_cast<double>(steps) > 1e8) steps /= 2;

  Outcome outcome;
  draw.problem = fmt::format("{} {} fields {} {} steps {} borders {}{}", name_of<T>(), fmt::join(problem.shape, "x"),
                             drawn.update.fields, drawn.update.name, steps, in_words(problem.borders, dimensions),
                             odd ? ", a NaN cell" : "");
  const planner::Options options = some_variant(stencil::candidates(draw.device, drawn.update, problem), by_chance);
  const stencil::Plan<T> plan(draw.device, drawn.update, problem, options);
  draw.problem += ", " + chosen_by(plan.decisions());

  Cut cut;
  cut.first = steps > 0 && data.chance(0.3) ? data.below(steps + 1) : 0;
  cut.buffers = !draw.device.is_host() && data.chance(0.5);
  Grid<T> grid(problem.shape, drawn.update.fields);
  fill(grid, data, system && std::is_integral_v<T>);
  if (odd) {
    if constexpr (std::is_floating_point_v<T>) {
      grid.all()[data.below(grid.all().size())] =
          infinite ? std::numeric_limits<T>::infinity() : std::numeric_limits<T>::quiet_NaN();
    }
  }
  std::optional<Grid<T>> coefficients;
  if (drawn.update.coefficients > 0) {
    coefficients.emplace(problem.shape, drawn.update.coefficients);
    fill(*coefficients, data, false);
    for (T& cell : coefficients->all()) cell = static_cast<T>(cell / 8);
  }
  const Grid<T>* const given = coefficients ? &*coefficients : nullptr;
  double allowed = 0;
  if constexpr (std::is_floating_point_v<T>) {
    double size = 1;
    for (std::size_t i = 0; i < steps; ++i) {
      size *= drawn.growth;
      allowed = allowed * drawn.growth + static_cast<double>(drawn.roundings) * size;
    }
    allowed *= std::numeric_limits<T>::epsilon();
  }
  const std::vector<WideCell<T>> expected = stepped(drawn.update, problem, grid, steps, given);
  advance(plan, grid, steps, given, cut);
  draw.answered(std::as_writable_bytes(grid.all()));
  outcome.wrong = difference(grid, expected, allowed);
  return outcome;
}

}  // namespace

Outcome check_stencil(Draw& draw) {
  // A leap compiles one kernel per transform, which takes PoCL seconds.
  if (draw.random.chance(draw.device.info().shares_host_memory && !draw.device.is_host() ? 0.05 : 0.2))
    return check_leap(draw);
  switch (draw.random.below(6)) {
    case 0:
      return check_cells<std::int32_t>(draw);
    case 1:
      return check_cells<std::uint8_t>(draw);
    case 2:
      if (draw.device.limits().float64) return check_cells<double>(draw);
      [[fallthrough]];
    default:
      return check_cells<float>(draw);
  }
}

}  // namespace ridge::check
