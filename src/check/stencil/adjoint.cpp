// Checks adjoints by dot products: random linear updates with any borders, and shots with layers and points between
// cells.
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/stencil/adjoint.hpp>
#include <ridge/stencil/survey.hpp>

#include "check/adjoint.hpp"

namespace ridge::check {
namespace {

using stencil::Border;

template <class A, class B>
double sum_of_products(const A& a, const B& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += static_cast<double>(a[i]) * static_cast<double>(b[i]);
  return sum;
}

// Both products, relative to the norms of one side.
Outcome compare_products(double forward, double back, double norms, double allowed) {
  Outcome outcome;
  if (!(std::abs(forward - back) <= allowed * norms))
    outcome.wrong = fmt::format("dot products {:.17g} and {:.17g}, apart by {:.2e} of the norms, allowed {:.0e}",
                                forward, back, std::abs(forward - back) / norms, allowed);
  return outcome;
}

template <class T>
double allowed_difference() {
  return sizeof(T) == sizeof(double) ? 1e-12 : 1e-5;
}

stencil::Borders borders_of_update(Random& random, std::size_t dimensions) {
  stencil::Borders borders;
  for (std::size_t axis = 0; axis < dimensions; ++axis) {
    const Border low = random.one_of(std::vector{Border::periodic, Border::mirror, Border::fixed});
    borders.low[axis] = low;
    borders.high[axis] = low == Border::periodic ? low : random.one_of(std::vector{Border::mirror, Border::fixed});
  }
  return borders;
}

template <class T>
Outcome transposed_update(Draw& draw) {
  Random& random = draw.random;
  const std::size_t dimensions = random.between(1, 3), fields = random.between(1, 2), steps = random.between(1, 6);
  std::vector<stencil::Term> terms;
  for (std::size_t to = 0; to < fields; ++to) {
    for (std::size_t k = 0; k < 6; ++k) {
      stencil::Term term{.weight = 0.6 * random.uniform() - 0.25, .field = random.below(fields), .to = to};
      for (std::size_t axis = 3 - dimensions; axis < 3; ++axis)
        term.offset[axis] = static_cast<int>(random.below(3)) - 1;
      terms.push_back(term);
    }
  }
  const stencil::Update<T> update = stencil::linear<T>(dimensions, terms);
  stencil::Problem problem{
      .shape = {}, .borders = borders_of_update(random, dimensions), .leap = stencil::LeapUse::never};
  Random data(random.bits());
  for (std::size_t axis = 0; axis < dimensions; ++axis) problem.shape.push_back(3 + random.length(12));
  draw.problem = fmt::format("adjoint {} {} of {} fields, {} steps", sizeof(T) == 4 ? "f32" : "f64",
                             fmt::join(problem.shape, "x"), fields, steps);
  for (std::size_t axis = 0; axis < dimensions; ++axis)
    draw.problem += fmt::format(" {}/{}", to_string(problem.borders.low[axis]), to_string(problem.borders.high[axis]));
  const stencil::Plan<T> plan(draw.device, update, problem, {.effort = Effort::quick});
  stencil::Grid<T> x(problem.shape, fields), y(problem.shape, fields);
  for (T& cell : x.all()) cell = static_cast<T>(2 * data.uniform() - 1);
  for (T& cell : y.all()) cell = static_cast<T>(2 * data.uniform() - 1);
  stencil::Grid<T> behind = y;
  const stencil::Adjoint<T> back = adjoint(plan, {.effort = Effort::quick});
  stencil::Grid<T> mask(problem.shape, fields);
  std::fill(mask.all().begin(), mask.all().end(), T{1});
  back.run(mask, 0);  // zero in fixed cells
  for (std::size_t i = 0; i < mask.all().size(); ++i) {
    if (mask.all()[i] == T{0}) x.all()[i] = y.all()[i] = behind.all()[i] = T{0};
  }
  stencil::Grid<T> ahead = x;
  plan.run(ahead, steps);
  back.run(behind, steps);
  draw.answered(std::as_writable_bytes(behind.all()));
  const double norms = std::sqrt(sum_of_products(ahead.all(), ahead.all()) * sum_of_products(y.all(), y.all())) +
                       std::sqrt(sum_of_products(x.all(), x.all()) * sum_of_products(y.all(), y.all()));
  return compare_products(sum_of_products(ahead.all(), y.all()), sum_of_products(x.all(), behind.all()), norms,
                          allowed_difference<T>());
}

template <class T>
Outcome transposed_shot(Draw& draw) {
  Random& random = draw.random;
  const bool solid = random.chance(0.3);
  stencil::SurveyMedium medium{.spacing = 5, .frequency = 15, .free_surface = random.chance(0.4)};
  for (std::size_t axis = 0; axis < (solid ? 3u : 2u); ++axis) medium.shape.push_back(17 + random.below(8));
  std::size_t cells = 1;
  for (const std::size_t side : medium.shape) cells *= side;
  for (std::size_t i = 0; i < cells; ++i) medium.velocity.push_back(1500 + 300 * random.uniform());
  const std::size_t steps = random.between(20, 50), sources = random.between(1, 2), receivers = random.between(1, 4);
  stencil::Shot shot;
  const auto scatter = [&](std::vector<double>& to, std::size_t count) {
    for (std::size_t k = 0; k < count; ++k) {
      for (const std::size_t side : medium.shape) to.push_back(1 + random.uniform() * static_cast<double>(side - 2));
    }
  };
  scatter(shot.sources, sources);
  scatter(shot.receivers, receivers);
  for (std::size_t i = 0; i < steps * sources; ++i) shot.wavelets.push_back(0.2 + random.uniform());
  std::vector<T> data(steps * receivers);
  for (T& value : data) value = static_cast<T>(0.2 + random.uniform());
  draw.problem =
      fmt::format("shot {} {}, {} steps, {} sources, {} receivers{}", sizeof(T) == 4 ? "f32" : "f64",
                  fmt::join(medium.shape, "x"), steps, sources, receivers, medium.free_surface ? ", free surface" : "");
  const stencil::Survey<T> survey(draw.device, medium, {.effort = Effort::quick});
  const std::vector<T> traces = survey.record(shot, steps);
  std::vector<double> pulses = survey.adjoint(shot, steps, data);
  draw.answered(std::as_writable_bytes(std::span(pulses)));
  const double norms = std::sqrt(sum_of_products(traces, traces) * sum_of_products(data, data));
  return compare_products(sum_of_products(traces, data), sum_of_products(shot.wavelets, pulses), norms,
                          allowed_difference<T>());
}

template <class T>
Outcome update_or_shot(Draw& draw) {
  return draw.random.chance(0.5) ? transposed_update<T>(draw) : transposed_shot<T>(draw);
}

}  // namespace

Outcome adjoint_stencil(Draw& draw) {
  const bool wide = draw.random.chance(0.6) && draw.device.limits().float64;
  return wide ? update_or_shot<double>(draw) : update_or_shot<float>(draw);
}

}  // namespace ridge::check
