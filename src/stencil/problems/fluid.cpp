// Viscous flow in three dimensions: Navier-Stokes with artificial compressibility on a staggered grid.
#include <cmath>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/stencil/from_expressions.hpp>
#include <ridge/stencil/problems.hpp>

#include "stencil/problems/laplacian.hpp"

namespace ridge::stencil {
namespace {

// The update's formulas. Axes are 0, 1, 2 for z, y, x.
template <class T>
class FluidFormulas {
 public:
  using V = Recorded<Compute<T>>;
  explicit FluidFormulas(const Fluid& fluid) : fluid_(fluid), cells_(3, reads_) {}

  // After the step, from the divergence before it.
  V pressure(const Offset& at) const {
    V value = read(0, at);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      const double factor = fluid_.sound * fluid_.sound * fluid_.dt / fluid_.spacing[axis];
      value -= factor * (velocity(axis, moved(at, axis, 1)) - velocity(axis, at));
    }
    return value;
  }

  // Advection (in conservative form, with averages of the two nearest velocities) and viscosity at the cell's own face.
  V rate(std::size_t axis) const {
    const Offset here{}, back = moved(here, axis, -1);
    const V centre = velocity(axis, here);
    V sum = 0;
    for (std::size_t b = 0; b < 3; ++b) {
      const V low = velocity(axis, moved(here, b, -1)), high = velocity(axis, moved(here, b, 1));
      const V in = b == axis ? low + centre : velocity(b, here) + velocity(b, back);
      const V out = b == axis ? centre + high : velocity(b, moved(here, b, 1)) + velocity(b, moved(back, b, 1));
      const double h = fluid_.spacing[b];
      sum += fluid_.viscosity / (h * h) * (low + high - 2.0 * centre);
      sum -= 0.25 / h * ((centre + high) * out - (low + centre) * in);
    }
    return sum;
  }

  V new_velocity(std::size_t axis, const V& rate) const {
    const V push = (pressure(Offset{}) - pressure(moved(Offset{}, axis, -1))) * (1 / fluid_.spacing[axis]);
    return velocity(axis, Offset{}) +
           fluid_.dt * (1.5 * rate - 0.5 * read(6 - axis, Offset{}) - push + fluid_.force[axis]);
  }

 private:
  static Offset moved(Offset at, std::size_t axis, int by) {
    at[axis] += by;
    return at;
  }
  V read(std::size_t field, const Offset& at) const { return cells_.field(field, at[0], at[1], at[2]); }
  V velocity(std::size_t axis, const Offset& at) const { return read(3 - axis, at); }

  Fluid fluid_;
  mutable std::vector<Expression> reads_{};
  detail::Recorder<T> cells_;
};

}  // namespace

double fluid_number(const Fluid& fluid) {
  const double inverse = inverse_squares({fluid.spacing.begin(), fluid.spacing.end()});
  return fluid.dt * (fluid.sound * std::sqrt(inverse) + 4 * fluid.viscosity * inverse);
}

template <class T>
Update<T> fluid(const Fluid& fluid) {
  check_spacing({fluid.spacing.begin(), fluid.spacing.end()});
  for (const double value : {fluid.dt, fluid.viscosity, fluid.sound}) {
    if (!std::isfinite(value) || value <= 0)
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("viscous flow: a time step of {}, a viscosity of {} and a sound speed of {}; all must be "
                              "above 0",
                              fluid.dt, fluid.viscosity, fluid.sound));
  }
  if (const double number = fluid_number(fluid); !(number < 1))
    throw Error(ErrorKind::invalid_argument,
                fmt::format("viscous flow: the time step {} is unstable: dt (sound sqrt(sum of 1/dx^2) + 4 viscosity "
                            "(sum of 1/dx^2)) is {:.3g} and must stay below 1; use a dt of {:.3g}",
                            fluid.dt, number, 0.5 * fluid.dt / number));
  const FluidFormulas<T> formulas(fluid);
  std::vector<Expression> velocities, rates;
  for (const std::size_t axis : {2u, 1u, 0u}) {
    const auto rate = formulas.rate(axis);
    velocities.push_back(formulas.new_velocity(axis, rate).expression);
    rates.push_back(rate.expression);
  }
  std::vector<Expression> outputs{formulas.pressure(Offset{}).expression};
  outputs.insert(outputs.end(), velocities.begin(), velocities.end());
  outputs.insert(outputs.end(), rates.begin(), rates.end());
  return from_expressions<T>(3, outputs, "fluid adams-bashforth");
}

template Update<float> fluid(const Fluid&);
template Update<double> fluid(const Fluid&);

}  // namespace ridge::stencil
