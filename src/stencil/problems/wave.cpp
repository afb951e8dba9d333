// Wave equation by leapfrog.
#include <cmath>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/stencil/problems.hpp>

#include "stencil/problems/laplacian.hpp"

namespace ridge::stencil {

double courant_number(const Wave& wave) { return wave.speed * wave.dt * std::sqrt(inverse_squares(wave.spacing)); }

template <class T>
Update<T> wave(const Wave& wave) {
  check_spacing(wave.spacing);
  if (!std::isfinite(wave.speed) || wave.speed < 0 || !std::isfinite(wave.dt) || wave.dt <= 0) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("a wave needs a speed of 0 or more and a time step above 0, got {} and {}", wave.speed, wave.dt));
  }
  if (const double number = courant_number(wave); number > 1 + 1e-12) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("the time step {} is unstable: c dt sqrt(sum of 1/dx^2) is {:.4g} and must not exceed 1; use "
                    "a dt up to {:.4g}",
                    wave.dt, number, wave.dt / number));
  }
  // Leapfrog: u(new) = 2 u - u(before) + (c dt)^2 laplacian(u), and u becomes the previous level.
  const std::size_t dimensions = wave.spacing.size();
  const auto axis_weight = [&](std::size_t axis) {
    const double courant = wave.speed * wave.dt / wave.spacing[axis - (3 - dimensions)];
    return grained<T>(courant * courant, courant * courant, 2);
  };
  std::vector<Term> terms;
  for (const Offset& offset : von_neumann(dimensions, 1)) {
    Term term{.offset = offset, .weight = 0, .field = 0, .to = 0};
    bool centre = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (offset[axis] == 0) continue;
      centre = false;
      term.weight = axis_weight(axis);
    }
    if (centre) {
      term.weight = 2;
      for (std::size_t axis = 3 - dimensions; axis < 3; ++axis) term.weight -= 2 * axis_weight(axis);
    }
    terms.push_back(term);
  }
  terms.push_back({.offset = {}, .weight = -1, .field = 1, .to = 0});
  terms.push_back({.offset = {}, .weight = 1, .field = 0, .to = 1});
  return linear<T>(dimensions, terms, "wave");
}

template Update<float> wave(const Wave&);
template Update<double> wave(const Wave&);

}  // namespace ridge::stencil
