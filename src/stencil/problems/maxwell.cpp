// Maxwell's equations in two dimensions (TM mode).
#include <cmath>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/stencil/from_expressions.hpp>
#include <ridge/stencil/problems.hpp>

#include "stencil/problems/laplacian.hpp"

namespace ridge::stencil {
namespace {

using Kind = Node::Kind;

Expression field_at(std::size_t field, int dy, int dx) { return make_read(Kind::read, field, {0, dy, dx}); }

Expression difference_of(const Expression& a, const Expression& b) { return make_node(Kind::subtract, {a, b}); }

}  // namespace

double courant_number(const Maxwell& maxwell, double least_permittivity) {
  const double fastest = 1 / std::sqrt(least_permittivity * maxwell.permeability);
  return fastest * maxwell.dt * std::sqrt(inverse_squares({maxwell.dy, maxwell.dx}));
}

template <class T>
Update<T> maxwell(const Maxwell& maxwell) {
  check_spacing({maxwell.dy, maxwell.dx});
  for (const double value : {maxwell.dt, maxwell.permeability}) {
    if (!std::isfinite(value) || value <= 0) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("Maxwell's equations: a time step of {} and a permeability of {}; both must be above 0",
                              maxwell.dt, maxwell.permeability));
    }
  }
  const double along_y = maxwell.dt / (maxwell.permeability * maxwell.dy);
  const double along_x = maxwell.dt / (maxwell.permeability * maxwell.dx);
  // The magnetic field after the step at a cell's offset; the electric field uses this new value.
  const auto hx = [&](int dy, int dx) {
    return make_node(Kind::fma, {make_constant(-along_y), difference_of(field_at(0, dy + 1, dx), field_at(0, dy, dx)),
                                 field_at(1, dy, dx)});
  };
  const auto hy = [&](int dy, int dx) {
    return make_node(Kind::fma, {make_constant(along_x), difference_of(field_at(0, dy, dx + 1), field_at(0, dy, dx)),
                                 field_at(2, dy, dx)});
  };
  const Expression curl =
      difference_of(make_node(Kind::multiply, {make_constant(1 / maxwell.dx), difference_of(hy(0, 0), hy(0, -1))}),
                    make_node(Kind::multiply, {make_constant(1 / maxwell.dy), difference_of(hx(0, 0), hx(-1, 0))}));
  const Expression kept = make_node(Kind::multiply, {make_read(Kind::coefficient, 0, {}), field_at(0, 0, 0)});
  const Expression ez = make_node(Kind::fma, {make_read(Kind::coefficient, 1, {}), curl, kept});
  return from_expressions<T>(2, {ez, hx(0, 0), hy(0, 0)}, "maxwell tm");
}

template Update<float> maxwell(const Maxwell&);
template Update<double> maxwell(const Maxwell&);

}  // namespace ridge::stencil
