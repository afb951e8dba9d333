// Acoustic waves in media with damping layers.
#include <cmath>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/stencil/from_expressions.hpp>
#include <ridge/stencil/problems.hpp>

#include "stencil/problems/laplacian.hpp"

namespace ridge::stencil {
namespace {

using Kind = Node::Kind;

Expression read_u(const Offset& offset) { return make_read(Kind::read, 0, offset); }

// Sum of the second derivatives: one rounded product, the others added with FMA.
Expression laplacian(const Acoustic& acoustic) {
  const auto& weights = second_difference(acoustic.accuracy);
  const std::size_t dimensions = acoustic.spacing.size();
  Expression sum =
      make_node(Kind::multiply, {make_constant(weights[0] * inverse_squares(acoustic.spacing)), read_u({})});
  for (std::size_t axis = 3 - dimensions; axis < 3; ++axis) {
    const double dx = acoustic.spacing[axis - (3 - dimensions)];
    for (int k = 1; k <= acoustic.accuracy / 2; ++k) {
      Offset up{}, down{};
      up[axis] = k;
      down[axis] = -k;
      const Expression both = make_node(Kind::add, {read_u(up), read_u(down)});
      sum = make_node(Kind::fma, {make_constant(weights[static_cast<std::size_t>(k)] / (dx * dx)), both, sum});
    }
  }
  return sum;
}

}  // namespace

double courant_number(const Acoustic& acoustic, double fastest) {
  return fastest * acoustic.dt * std::sqrt(inverse_squares(acoustic.spacing));
}

// The mode that alternates from cell to cell must not grow: (c dt)^2 times its eigenvalue must stay below 4.
double acoustic_limit(int accuracy) { return std::sqrt(2 * heat_limit(accuracy)); }

template <class T>
Update<T> acoustic(const Acoustic& acoustic) {
  check_spacing(acoustic.spacing);
  if (!std::isfinite(acoustic.dt) || acoustic.dt <= 0) {
    throw Error(ErrorKind::invalid_argument, fmt::format("a time step of {}; it must be above 0", acoustic.dt));
  }
  const Expression u = read_u({}), before = make_read(Kind::read, 1, {});
  const Expression squared = make_read(Kind::coefficient, 0, {});
  Expression next;
  if (acoustic.absorbing) {
    // a (2 u + (c dt)^2 laplacian - 2 before) + before, with a = 1 the same as below.
    const Expression change = make_node(Kind::multiply, {make_constant(2), make_node(Kind::subtract, {u, before})});
    next = make_node(Kind::fma, {make_read(Kind::coefficient, 1, {}),
                                 make_node(Kind::fma, {squared, laplacian(acoustic), change}), before});
  } else {
    next =
        make_node(Kind::fma, {squared, laplacian(acoustic),
                              make_node(Kind::subtract, {make_node(Kind::multiply, {make_constant(2), u}), before})});
  }
  return from_expressions<T>(
      acoustic.spacing.size(), {next, u},
      fmt::format("acoustic accuracy {}{}", acoustic.accuracy, acoustic.absorbing ? " absorbing" : ""));
}

template Update<float> acoustic(const Acoustic&);
template Update<double> acoustic(const Acoustic&);

}  // namespace ridge::stencil
