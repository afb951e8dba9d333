// MUSCL-Hancock formulas for all value types: numbers and expressions (euler.cpp) and vectors of each instruction set
// (euler_rows-inl.hpp), with bit-identical results. Toro, Riemann Solvers and Numerical Methods for Fluid Dynamics,
// chapters 10, 14 and 16.
#if defined(RIDGE_EULER_FORMULAS_INL_HPP) == defined(HWY_TARGET_TOGGLE)
#ifdef RIDGE_EULER_FORMULAS_INL_HPP
#undef RIDGE_EULER_FORMULAS_INL_HPP
#else
#define RIDGE_EULER_FORMULAS_INL_HPP
#endif
#include <cmath>

#include <hwy/highway.h>
#include <ridge/stencil/problems.hpp>

HWY_BEFORE_NAMESPACE();
namespace ridge::stencil::HWY_NAMESPACE {
namespace {

template <class V>
struct State {  // primitive; `normal` is the velocity along the current axis
  V density, normal, along, pressure;
};

template <class V>
struct Flux {
  V density, normal, along, energy;
};

// Half the harmonic mean of two differences of the same sign, otherwise 0, so that no new extrema arise. Faces and half
// steps use half slopes.
template <class V>
HWY_INLINE V half_limited(const V& before, const V& after) {
  const V product = before * after;
  return select(product > V(0), product / (before + after), V(0));
}

template <class V>
HWY_INLINE State<V> half_slope(const State<V>& before, const State<V>& here, const State<V>& after) {
  return {half_limited(here.density - before.density, after.density - here.density),
          half_limited(here.normal - before.normal, after.normal - here.normal),
          half_limited(here.along - before.along, after.along - here.along),
          half_limited(here.pressure - before.pressure, after.pressure - here.pressure)};
}

template <class V>
struct Constants {
  V gamma, root_gamma, inverse_gamma_1;  // inverse_gamma_1 = 1 / (gamma - 1)
  V step_x, step_y;                      // dt / dx, dt / dy
  V floor;  // of density and pressure at a face: strong rarefactions must not become negative
};

// HLLC flux contribution of one side of a face.
template <class V>
HWY_INLINE Flux<V> hllc(const State<V>& left, const State<V>& right, const Constants<V>& constants) {
  // Divisions dominate the cost: four, and two square roots.
  const V warm_left = left.pressure / left.density, warm_right = right.pressure / right.density;
  const V c_left = constants.root_gamma * sqrt(warm_left), c_right = constants.root_gamma * sqrt(warm_right);
  const V s_left = min(left.normal - c_left, right.normal - c_right);
  const V s_right = max(left.normal + c_left, right.normal + c_right);
  const V m_left = left.density * (s_left - left.normal), m_right = right.density * (s_right - right.normal);
  const V middle =
      (right.pressure - left.pressure + left.normal * m_left - right.normal * m_right) / (m_left - m_right);
  // Only the side upwind of the contact contributes.
  const auto rightwards = middle >= V(0);
  const V normal = select(rightwards, left.normal, right.normal);
  const V along = select(rightwards, left.along, right.along);
  const V pressure = select(rightwards, left.pressure, right.pressure);
  const V wave = select(rightwards, s_left, s_right);
  const V mass = select(rightwards, m_left, m_right);
  const V specific = select(rightwards, warm_left, warm_right) * constants.inverse_gamma_1 +
                     V(0.5) * (normal * normal + along * along);  // energy per unit mass
  // Between the wave and the contact the gas has the contact's speed. If the whole fan moves one way, the upwind gas
  // itself crosses the face: the same formulas with its own speed, because mass / (wave - normal) is its density.
  const V speed = select(wave * middle > V(0), normal, middle);
  const V behind = V(1) / (wave - speed), push = speed - normal;
  const V there = pressure + mass * push, mass_flux = mass * behind * speed;
  const V energy = (mass * specific + push * (pressure + mass * speed)) * behind;
  return {mass_flux, mass_flux * speed + there, mass_flux * along, speed * (energy + there)};
}

// Swaps the velocities: along y the normal velocity is v.
template <class V>
HWY_INLINE State<V> turned(const State<V>& state) {
  return {state.density, state.along, state.normal, state.pressure};
}

template <class V>
struct Faces {                            // states of a cell after half a step, at the low and high side of both axes
  State<V> low_x, high_x, low_y, high_y;  // low_y, high_y with swapped velocities
};

// States half a slope below and above the centre.
template <class V>
HWY_INLINE State<V> lower(const State<V>& middle, const State<V>& half, const V& floor) {
  return {max(middle.density - half.density, floor), middle.normal - half.normal, middle.along - half.along,
          max(middle.pressure - half.pressure, floor)};
}
template <class V>
HWY_INLINE State<V> upper(const State<V>& middle, const State<V>& half, const V& floor) {
  return {max(middle.density + half.density, floor), middle.normal + half.normal, middle.along + half.along,
          max(middle.pressure + half.pressure, floor)};
}
template <class V>
HWY_INLINE Faces<V> faces_of(const State<V>& here, const State<V>& west, const State<V>& east, const State<V>& south,
                             const State<V>& north, const Constants<V>& k) {
  const State<V> hx = half_slope(west, here, east), hy = half_slope(south, here, north);
  const V u = here.normal, v = here.along;
  const V spreading = k.step_x * hx.normal + k.step_y * hy.along;
  const V ax = k.step_x * u, ay = k.step_y * v, inverse = V(1) / here.density;
  const State<V> later{here.density - ax * hx.density - ay * hy.density - here.density * spreading,
                       u - ax * hx.normal - ay * hy.normal - k.step_x * inverse * hx.pressure,
                       v - ax * hx.along - ay * hy.along - k.step_y * inverse * hy.pressure,
                       here.pressure - ax * hx.pressure - ay * hy.pressure - k.gamma * here.pressure * spreading};
  return {lower(later, hx, k.floor), upper(later, hx, k.floor), turned(lower(later, hy, k.floor)),
          turned(upper(later, hy, k.floor))};
}

template <class V>
HWY_INLINE State<V> primitive_of(const V& density, const V& mx, const V& my, const V& energy, double gamma) {
  const V inverse = V(1) / density;
  const V vx = mx * inverse, vy = my * inverse;
  return {density, vx, vy, V(gamma - 1) * (energy - V(0.5) * (mx * vx + my * vy))};
}

template <class V>
HWY_INLINE Constants<V> constants_of(const Euler& euler) {
  return {V(euler.gamma),         V(std::sqrt(euler.gamma)), V(1 / (euler.gamma - 1)),
          V(euler.dt / euler.dx), V(euler.dt / euler.dy),    V(1e-10)};
}

}  // namespace
}  // namespace ridge::stencil::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
