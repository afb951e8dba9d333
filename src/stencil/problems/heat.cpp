// Heat equation: explicit steps, spatial accuracy 2 to 8, stability limits.
#include <array>
#include <cmath>
#include <cstdlib>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/stencil/problems.hpp>

#include "stencil/problems/laplacian.hpp"

namespace ridge::stencil {
namespace {

// Central second derivative: the centre's weight, then those at distance 1, 2, ...
struct Difference {
  int accuracy;
  std::array<double, 5> weights;
};
constexpr Difference kDifferences[] = {
    {2, {-2, 1, 0, 0, 0}},
    {4, {-5.0 / 2, 4.0 / 3, -1.0 / 12, 0, 0}},
    {6, {-49.0 / 18, 3.0 / 2, -3.0 / 20, 1.0 / 90, 0}},
    {8, {-205.0 / 72, 8.0 / 5, -1.0 / 5, 8.0 / 315, -1.0 / 560}},
};

const Difference& difference(int accuracy) {
  for (const Difference& one : kDifferences) {
    if (one.accuracy == accuracy) return one;
  }
  throw Error(ErrorKind::invalid_argument, fmt::format("an accuracy of {}; there are 2, 4, 6 and 8", accuracy));
}

void check(const Heat& heat) {
  check_spacing(heat.spacing);
  if (!std::isfinite(heat.alpha) || heat.alpha < 0) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("the diffusivity must be 0 or more, got an alpha of {}", heat.alpha));
  }
  if (!std::isfinite(heat.dt) || heat.dt <= 0) {
    throw Error(ErrorKind::invalid_argument, fmt::format("the time step must be above 0, got {}", heat.dt));
  }
  const double number = heat_number(heat), limit = heat_limit(heat.accuracy);
  if (!(number < limit)) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("the time step {} is unstable: alpha dt (sum of 1/dx^2) is {:.4g} and must stay below {:.4g}; "
                    "use a dt below {:.4g}",
                    heat.dt, number, limit, heat.dt * limit / number));
  }
}

}  // namespace

const std::array<double, 5>& second_difference(int accuracy) { return difference(accuracy).weights; }

const std::array<double, 5>& first_difference(int accuracy) {
  static const std::array<std::array<double, 5>, 4> weights{{{0, 1.0 / 2},
                                                             {0, 2.0 / 3, -1.0 / 12},
                                                             {0, 3.0 / 4, -3.0 / 20, 1.0 / 60},
                                                             {0, 4.0 / 5, -1.0 / 5, 4.0 / 105, -1.0 / 280}}};
  second_difference(accuracy);  // rejects other orders
  return weights[static_cast<std::size_t>(accuracy / 2 - 1)];
}

void check_spacing(const std::vector<double>& spacing) {
  if (spacing.empty() || spacing.size() > 3) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("a spacing for {} axes; one to three are wanted", spacing.size()));
  }
  for (const double dx : spacing) {
    if (!std::isfinite(dx) || dx <= 0) {
      throw Error(ErrorKind::invalid_argument, fmt::format("a spacing of {}; it must be above 0", dx));
    }
  }
}

double inverse_squares(const std::vector<double>& spacing) {
  double sum = 0;
  for (const double dx : spacing) sum += 1 / (dx * dx);
  return sum;
}

double heat_number(const Heat& heat) { return heat.alpha * heat.dt * inverse_squares(heat.spacing); }

// The fastest mode alternates from cell to cell; it must not grow.
double heat_limit(int accuracy) {
  const auto& weights = difference(accuracy).weights;
  double alternating = weights[0];
  for (std::size_t k = 1; k < weights.size(); ++k) alternating += (k % 2 == 0 ? 2 : -2) * weights[k];
  return 2 / -alternating;
}

template <class T>
Update<T> heat(const Heat& heat) {
  check(heat);
  const auto& weights = difference(heat.accuracy).weights;
  const std::size_t dimensions = heat.spacing.size();
  const auto axis_weight = [&](std::size_t axis) {  // of the three axes
    const double dx = heat.spacing[axis - (3 - dimensions)];
    return heat.alpha * heat.dt / (dx * dx);
  };
  const auto neighbour = [&](std::size_t axis, std::size_t distance) {
    return grained<T>(axis_weight(axis) * weights[distance], axis_weight(axis), 1);
  };
  std::vector<Term> terms;
  for (const Offset& offset : von_neumann(dimensions, heat.accuracy / 2)) {
    Term term{.offset = offset, .weight = 0};
    bool centre = true;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (offset[axis] == 0) continue;
      centre = false;
      term.weight = neighbour(axis, static_cast<std::size_t>(std::abs(offset[axis])));
    }
    if (centre) {
      term.weight = 1;
      for (std::size_t axis = 3 - dimensions; axis < 3; ++axis) {
        for (std::size_t k = 1; k <= static_cast<std::size_t>(heat.accuracy) / 2; ++k)
          term.weight -= 2 * neighbour(axis, k);
      }
    }
    terms.push_back(term);
  }
  return linear<T>(dimensions, terms, fmt::format("heat accuracy {}", heat.accuracy));
}

template Update<float> heat(const Heat&);
template Update<double> heat(const Heat&);

}  // namespace ridge::stencil
