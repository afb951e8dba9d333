// Euler equations by MUSCL-Hancock in one update: slopes of the primitive variables, half a time step per cell, HLLC
// fluxes through the four faces. This is the definition, which devices run; the host uses euler_rows.
#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/stencil/problems.hpp>

#include "stencil/problems/euler_formulas-inl.hpp"
#include "stencil/problems/euler_rows.hpp"

HWY_BEFORE_NAMESPACE();
namespace ridge::stencil::HWY_NAMESPACE {
namespace {

template <class T>
struct EulerStep {
  Euler euler;

  template <class Cells>
  auto operator()(const Cells& u) const {
    using V = std::remove_cvref_t<decltype(u.field(0, 0, 0))>;
    const Constants<V> k = constants_of<V>(euler);
    const auto primitive = [&](int dy, int dx) HWY_ATTR {
      return primitive_of<V>(u.field(0, dy, dx), u.field(1, dy, dx), u.field(2, dy, dx), u.field(3, dy, dx),
                             euler.gamma);
    };
    const State<V> here = primitive(0, 0), west = primitive(0, -1), east = primitive(0, 1), south = primitive(-1, 0),
                   north = primitive(1, 0), south_west = primitive(-1, -1), south_east = primitive(-1, 1),
                   north_west = primitive(1, -1), north_east = primitive(1, 1), far_west = primitive(0, -2),
                   far_east = primitive(0, 2), far_south = primitive(-2, 0), far_north = primitive(2, 0);
    const Faces<V> middle = faces_of(here, west, east, south, north, k);
    const Faces<V> at_west = faces_of(west, far_west, here, south_west, north_west, k);
    const Faces<V> at_east = faces_of(east, here, far_east, south_east, north_east, k);
    const Faces<V> at_south = faces_of(south, south_west, south_east, far_south, here, k);
    const Faces<V> at_north = faces_of(north, north_west, north_east, here, far_north, k);
    const Flux<V> in_x = hllc(at_west.high_x, middle.low_x, k), out_x = hllc(middle.high_x, at_east.low_x, k);
    const Flux<V> in_y = hllc(at_south.high_y, middle.low_y, k), out_y = hllc(middle.high_y, at_north.low_y, k);
    return std::array<V, 4>{
        u.field(0, 0, 0) - k.step_x * (out_x.density - in_x.density) - k.step_y * (out_y.density - in_y.density),
        u.field(1, 0, 0) - k.step_x * (out_x.normal - in_x.normal) - k.step_y * (out_y.along - in_y.along),
        u.field(2, 0, 0) - k.step_x * (out_x.along - in_x.along) - k.step_y * (out_y.normal - in_y.normal),
        u.field(3, 0, 0) - k.step_x * (out_x.energy - in_x.energy) - k.step_y * (out_y.energy - in_y.energy)};
  }
};

}  // namespace
}  // namespace ridge::stencil::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

namespace ridge::stencil {

double courant_number(const Euler& euler, const Gas& gas) {
  const double c = std::sqrt(euler.gamma * gas.pressure / gas.density);
  return euler.dt * ((std::abs(gas.u) + c) / euler.dx + (std::abs(gas.v) + c) / euler.dy);
}

template <class T>
Update<T> euler(const Euler& euler) {
  const auto positive = [](double value, const char* what) {
    if (!std::isfinite(value) || value <= 0) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("Euler's equations: {} is {}; it must be above 0", what, value));
    }
  };
  positive(euler.dt, "the time step");
  positive(euler.dx, "dx");
  positive(euler.dy, "dy");
  positive(euler.gamma - 1, "gamma - 1");
  Update<T> made = update<T>(2, HWY_NAMESPACE::EulerStep<T>{euler}, "euler muscl-hancock hllc");
  made.row = [euler](const Rows<T>& rows) { euler_rows(euler, rows); };
  made.rows_at_once = 32;
  return made;
}

template Update<float> euler(const Euler&);
template Update<double> euler(const Euler&);

}  // namespace ridge::stencil
