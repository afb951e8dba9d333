// Draws random stencil updates: waves in media, sums of fields, nonlinear functions, arbitrary points.
#include "check/stencil/case.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <type_traits>
#include <vector>

#include <fmt/format.h>
#include <ridge/stencil/from_expressions.hpp>
#include <ridge/stencil/problems.hpp>

namespace ridge::check {
namespace {

using stencil::Expression;
using stencil::Node;
using stencil::Offset;
using stencil::Term;

// Waves in media: sums of neighbours combined at the cell, fields that hold the previous time level, coefficients.
template <class T>
Drawn<T> draw_media(Random& random) {
  const std::size_t dimensions = random.between(1, 3);
  const std::vector<double> spacing(dimensions, 1.0);
  switch (random.below(3)) {
    case 0: {
      const double dt = 0.9 / std::sqrt(static_cast<double>(dimensions)) * (0.1 + 0.9 * random.uniform());
      return {stencil::wave<T>({.dt = dt, .spacing = spacing}), 4, 4 + 4 * dimensions};
    }
    case 1:
      return {stencil::maxwell<T>({.dt = 0.5}), 4, 16};
    default: {
      const int accuracy = 2 * static_cast<int>(random.between(1, 4));
      // (c dt)^2 is at most 1/8: 6.5 times that per axis, plus two time levels.
      return {
          stencil::acoustic<T>({.dt = 1, .spacing = spacing, .accuracy = accuracy, .absorbing = random.chance(0.5)}), 6,
          8 + 2 * dimensions * static_cast<std::size_t>(accuracy)};
    }
  }
}

// Any number of fields, each a sum of points of any of them, some multiplied by a coefficient.
template <class T>
Drawn<T> draw_fields(Random& random) {
  const std::size_t dimensions = random.between(1, 3), fields = random.between(1, 4);
  const std::size_t coefficients = random.below(3);
  const int reach = static_cast<int>(random.between(1, dimensions == 3 ? 2 : 3));
  std::size_t most = 0;
  std::vector<Expression> outputs;
  for (std::size_t field = 0; field < fields; ++field) {
    const std::size_t points = random.between(1, 7);
    Expression sum;
    for (std::size_t i = 0; i < points; ++i) {
      Offset offset{};
      for (std::size_t axis = 3 - dimensions; axis < 3; ++axis)
        offset[axis] = static_cast<int>(random.below(2 * static_cast<std::size_t>(reach) + 1)) - reach;
      if (random.chance(0.6)) {  // along one axis: the most common case
        const std::size_t kept = 3 - dimensions + random.below(dimensions);
        for (std::size_t axis = 0; axis < 3; ++axis) offset[axis] = axis == kept ? offset[axis] : 0;
      }
      const auto weight = static_cast<T>((2 * random.uniform() - 1) / static_cast<double>(points));
      const Expression read = stencil::make_read(Node::Kind::read, random.below(fields), offset);
      const Expression constant = stencil::make_constant(static_cast<double>(weight));
      sum = i == 0 ? stencil::make_node(Node::Kind::multiply, {constant, read})
                   : stencil::make_node(Node::Kind::fma, {constant, read, sum});
    }
    if (coefficients > 0 && random.chance(0.6)) {
      const Expression factor = stencil::make_read(Node::Kind::coefficient, random.below(coefficients), {});
      const Expression own = stencil::make_read(Node::Kind::read, random.below(fields), {});
      sum = stencil::make_node(Node::Kind::fma, {factor, sum, own});
    }
    outputs.push_back(sum);
    most = std::max(most, 2 * points + 2);
  }
  return {stencil::from_expressions<T>(dimensions, outputs, fmt::format("{} fields", fields)), 1.2, most};
}

// Two fields, a coefficient, nonlinear functions: updates that the fastest kernels refuse.
template <class T>
Drawn<T> draw_formula(Random& random) {
  const std::size_t kind = random.below(std::is_floating_point_v<T> ? 4 : 1);
  if constexpr (std::is_floating_point_v<T>) {
    if (kind == 1) {
      return {stencil::update<T>(2,
                                 [](auto u) {
                                   const auto now = u.field(0, 0, 0);
                                   const auto bend = u.field(0, -1, 0) + u.field(0, 1, 0) + u.field(0, 0, -1) +
                                                     u.field(0, 0, 1) - T(4) * now;
                                   return std::array{T(2) * now - u.field(1, 0, 0) + T(0.1) * bend, now + T(0)};
                                 }),
              4, 12};
    }
    if (kind == 2) {
      return {stencil::update<T>(2,
                                 [](auto u) {
                                   return u(0, 0) + u.coefficient(0, 0, 0) *
                                                        (u(-1, 0) + u(1, 0) + u(0, -1) + u(0, 1) - T(4) * u(0, 0));
                                 }),
              2, 8};
    }
    if (kind == 3) {
      return {stencil::update<T>(2,
                                 [](auto u) {
                                   const auto slope = abs(u(0, 1) - u(0, -1)) + sqrt(abs(u(1, 0)) + T(1));
                                   return select(u(0, 0) < u(0, 1), T(0.25) * slope, max(u(0, 0), u(-1, 0)) * T(0.5));
                                 }),
              4, 16};
    }
  }
  // Conway's game of life: comparisons and logic.
  return {stencil::update<T>(2,
                             [](auto u) {
                               const auto sum =
                                   u(-1, -1) + u(-1, 0) + u(-1, 1) + u(0, -1) + u(0, 1) + u(1, -1) + u(1, 0) + u(1, 1);
                               return select(sum == 3 || (sum == 2 && u(0, 0) == 1), 1, 0);
                             }),
          1, 1};
}

}  // namespace

template <class T>
Drawn<T> draw_linear(Random& random, std::size_t dimensions) {
  const int reach = static_cast<int>(random.between(1, dimensions == 3 ? 2 : 4));
  const bool far = random.chance(0.15);  // orders of accuracy used for seismic waves, and higher ones
  std::vector<Offset> offsets;
  switch (random.below(4)) {
    case 0:
      offsets =
          stencil::von_neumann(dimensions, far ? static_cast<int>(random.between(3, 8)) : reach, random.chance(0.8));
      break;
    case 1:
      offsets = stencil::moore(dimensions, std::min(reach, 2), random.chance(0.8));
      break;
    case 2:
      offsets = stencil::diamond(dimensions, std::min(reach, 3), random.chance(0.8));
      break;
    default: {  // any points, without symmetry
      const std::size_t points = random.between(1, 9);
      for (std::size_t i = 0; i < points; ++i) {
        Offset offset{};
        for (std::size_t axis = 3 - dimensions; axis < 3; ++axis)
          offset[axis] = static_cast<int>(random.between(0, 2 * static_cast<std::size_t>(reach))) - reach;
        if (std::find(offsets.begin(), offsets.end(), offset) == offsets.end()) offsets.push_back(offset);
      }
    }
  }
  const bool even = random.chance(0.5);
  double sum = 0;
  std::vector<Term> terms;
  for (const Offset& offset : offsets) {
    double weight = even ? 1 : 2 * random.uniform() - 1;
    if constexpr (std::is_integral_v<T>) weight = even ? 1 : static_cast<double>(random.between(0, 6)) - 3;
    if (weight == 0) weight = 1;
    terms.push_back({.offset = offset, .weight = weight});
    sum += std::abs(weight);
  }
  if constexpr (std::is_floating_point_v<T>) {
    for (Term& term : terms) term.weight = static_cast<T>(term.weight / sum);
    sum = 1;
  }
  return {stencil::linear<T>(dimensions, terms), std::max(sum, 1.0), 2 * terms.size()};
}

template <class T>
Drawn<T> draw_system(Random& random) {
  if constexpr (std::is_floating_point_v<T>) {
    const double which = random.uniform();
    if (which < 0.4) return draw_media<T>(random);
    if (which < 0.7) return draw_fields<T>(random);
  }
  return draw_formula<T>(random);
}

template Drawn<float> draw_linear(Random&, std::size_t);
template Drawn<double> draw_linear(Random&, std::size_t);
template Drawn<std::int32_t> draw_linear(Random&, std::size_t);
template Drawn<std::uint8_t> draw_linear(Random&, std::size_t);
template Drawn<float> draw_system(Random&);
template Drawn<double> draw_system(Random&);
template Drawn<std::int32_t> draw_system(Random&);
template Drawn<std::uint8_t> draw_system(Random&);

}  // namespace ridge::check
