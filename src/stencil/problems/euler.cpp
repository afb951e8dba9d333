// MUSCL-Hancock in one update: slopes of the primitive variables, half a time step of each cell on its own, HLLC fluxes
// through its four faces. Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics, chapters 10, 14 and 16.
#include <array>
#include <cmath>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/stencil_problems.hpp>

namespace ridge::stencil {
namespace {

// The same formulas with numbers and with expressions.
template <class V>
struct State {  // primitive; `normal` is the velocity along the axis at hand
  V density, normal, along, pressure;
};

template <class V>
struct Flux {
  V density, normal, along, energy;
};

// The harmonic mean of two differences of one sign, else 0: no new extremes.
template <class V>
V limited(const V& before, const V& after) {
  const V product = before * after;
  return select(product > V(0), V(2) * product / (before + after), V(0));
}

template <class V>
State<V> slope(const State<V>& before, const State<V>& here, const State<V>& after) {
  return {limited(here.density - before.density, after.density - here.density),
          limited(here.normal - before.normal, after.normal - here.normal),
          limited(here.along - before.along, after.along - here.along),
          limited(here.pressure - before.pressure, after.pressure - here.pressure)};
}

template <class V>
struct Constants {
  V gamma, inverse_gamma_1;  // 1 / (gamma - 1)
  V half_x, half_y;          // dt / (2 dx), dt / (2 dy)
  V step_x, step_y;          // dt / dx, dt / dy
  V floor;                   // of density and pressure at a face: strong rarefactions must not turn negative
};

// What HLLC takes from one side of a face.
template <class V>
Flux<V> hllc(const State<V>& left, const State<V>& right, const Constants<V>& constants) {
  const V c_left = sqrt(constants.gamma * left.pressure / left.density);
  const V c_right = sqrt(constants.gamma * right.pressure / right.density);
  const V s_left = min(left.normal - c_left, right.normal - c_right);
  const V s_right = max(left.normal + c_left, right.normal + c_right);
  const V m_left = left.density * (s_left - left.normal), m_right = right.density * (s_right - right.normal);
  const V middle =
      (right.pressure - left.pressure + left.normal * m_left - right.normal * m_right) / (m_left - m_right);
  // The contact goes one way: only that side's state counts.
  const auto rightwards = middle >= V(0);
  const V density = select(rightwards, left.density, right.density);
  const V normal = select(rightwards, left.normal, right.normal);
  const V along = select(rightwards, left.along, right.along);
  const V pressure = select(rightwards, left.pressure, right.pressure);
  const V wave = select(rightwards, s_left, s_right);
  const V mass = select(rightwards, m_left, m_right);
  // 0 where the whole fan goes one way: then the flux is that side's own.
  const V reach = select(rightwards, min(s_left, V(0)), max(s_right, V(0)));
  const V energy = pressure * constants.inverse_gamma_1 + V(0.5) * density * (normal * normal + along * along);
  const V star_density = mass / (wave - middle);
  const V star_energy = star_density * (energy / density + (middle - normal) * (middle + pressure / mass));
  const V momentum = density * normal;
  return {momentum + reach * (star_density - density),
          momentum * normal + pressure + reach * (star_density * middle - momentum),
          momentum * along + reach * (star_density * along - density * along),
          normal * (energy + pressure) + reach * (star_energy - energy)};
}

// Velocities exchanged: along y the normal velocity is v.
template <class V>
State<V> turned(const State<V>& state) {
  return {state.density, state.along, state.normal, state.pressure};
}

template <class V>
struct Faces {  // of a cell after half a step: its states at the low and high side of both axes
  State<V> low_x, high_x, low_y, high_y;  // low_y, high_y turned
};

template <class V>
State<V> at_face(const State<V>& middle, const State<V>& change, const V& sign, const V& floor) {
  return {max(middle.density + sign * change.density, floor), middle.normal + sign * change.normal,
          middle.along + sign * change.along, max(middle.pressure + sign * change.pressure, floor)};
}

template <class V>
Faces<V> faces_of(const State<V>& here, const State<V>& west, const State<V>& east, const State<V>& south,
                  const State<V>& north, const Constants<V>& k) {
  const State<V> sx = slope(west, here, east), sy = slope(south, here, north);
  const V u = here.normal, v = here.along;
  const V spreading = k.half_x * sx.normal + k.half_y * sy.along;
  const V ax = k.half_x * u, ay = k.half_y * v;
  const State<V> later{
      max(here.density - (ax * sx.density + ay * sy.density + here.density * spreading), k.floor),
      u - (ax * sx.normal + ay * sy.normal + k.half_x * sx.pressure / here.density),
      v - (ax * sx.along + ay * sy.along + k.half_y * sy.pressure / here.density),
      max(here.pressure - (ax * sx.pressure + ay * sy.pressure + k.gamma * here.pressure * spreading), k.floor)};
  const V half(0.5), other(-0.5);
  return {at_face(later, sx, other, k.floor), at_face(later, sx, half, k.floor),
          turned(at_face(later, sy, other, k.floor)), turned(at_face(later, sy, half, k.floor))};
}

template <class T>
struct EulerStep {
  Euler euler;

  template <class Cells>
  auto operator()(const Cells& u) const {
    using V = std::remove_cvref_t<decltype(u.field(0, 0, 0))>;
    const double gamma = euler.gamma;
    const Constants<V> k{V(gamma),
                         V(1 / (gamma - 1)),
                         V(euler.dt / (2 * euler.dx)),
                         V(euler.dt / (2 * euler.dy)),
                         V(euler.dt / euler.dx),
                         V(euler.dt / euler.dy),
                         V(1e-10)};
    const auto primitive = [&](int dy, int dx) -> State<V> {
      const V density = u.field(0, dy, dx);
      const V inverse = V(1) / density;
      const V mx = u.field(1, dy, dx), my = u.field(2, dy, dx);
      const V vx = mx * inverse, vy = my * inverse;
      return {density, vx, vy, V(gamma - 1) * (u.field(3, dy, dx) - V(0.5) * (mx * vx + my * vy))};
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
        u.field(0, 0, 0) - (k.step_x * (out_x.density - in_x.density) + k.step_y * (out_y.density - in_y.density)),
        u.field(1, 0, 0) - (k.step_x * (out_x.normal - in_x.normal) + k.step_y * (out_y.along - in_y.along)),
        u.field(2, 0, 0) - (k.step_x * (out_x.along - in_x.along) + k.step_y * (out_y.normal - in_y.normal)),
        u.field(3, 0, 0) - (k.step_x * (out_x.energy - in_x.energy) + k.step_y * (out_y.energy - in_y.energy))};
  }
};

}  // namespace

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
  return update<T>(2, EulerStep<T>{euler}, "euler muscl-hancock hllc");
}

template Update<float> euler(const Euler&);
template Update<double> euler(const Euler&);

}  // namespace ridge::stencil
