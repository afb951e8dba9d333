// Exact solution of the Riemann problem for an ideal gas.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/stencil/problems.hpp>

namespace ridge::stencil {
namespace {

double sound(const Gas& gas, double gamma) { return std::sqrt(gamma * gas.pressure / gas.density); }

// Velocity change across a wave between `gas` and the pressure p in the middle, and its derivative.
struct Jump {
  double value, slope;
};
Jump jump(const Gas& gas, double gamma, double p) {
  if (p > gas.pressure) {  // a shock
    const double a = 2 / ((gamma + 1) * gas.density), b = (gamma - 1) / (gamma + 1) * gas.pressure;
    const double root = std::sqrt(a / (p + b));
    return {(p - gas.pressure) * root, root * (1 - (p - gas.pressure) / (2 * (p + b)))};
  }
  const double c = sound(gas, gamma), ratio = p / gas.pressure;
  return {2 * c / (gamma - 1) * (std::pow(ratio, (gamma - 1) / (2 * gamma)) - 1),
          std::pow(ratio, -(gamma + 1) / (2 * gamma)) / (gas.density * c)};
}

struct Middle {
  double pressure, u;
};
Middle middle_of(const Gas& left, const Gas& right, double gamma) {
  const double du = right.u - left.u;
  if (2 * (sound(left, gamma) + sound(right, gamma)) / (gamma - 1) <= du) {
    throw Error(ErrorKind::invalid_argument,
                "this Riemann problem opens a vacuum: the sides move apart too fast for the solver");
  }
  double p = std::max(1e-14, (left.pressure + right.pressure) / 2);
  for (int i = 0; i < 200; ++i) {
    const Jump l = jump(left, gamma, p), r = jump(right, gamma, p);
    const double next = std::max(p - (l.value + r.value + du) / (l.slope + r.slope), p * 1e-3);
    const bool done = std::abs(next - p) <= 1e-15 * p;
    p = next;
    if (done) break;
  }
  return {p, (left.u + right.u + jump(right, gamma, p).value - jump(left, gamma, p).value) / 2};
}

// State to the left of the contact; the right side is its mirror image.
Gas left_of_contact(const Gas& gas, const Middle& middle, double gamma, double speed) {
  const double c = sound(gas, gamma), ratio = middle.pressure / gas.pressure, g = (gamma - 1) / (gamma + 1);
  if (middle.pressure > gas.pressure) {
    const double shock = gas.u - c * std::sqrt((gamma + 1) / (2 * gamma) * ratio + (gamma - 1) / (2 * gamma));
    if (speed <= shock) return gas;
    return {gas.density * (ratio + g) / (g * ratio + 1), middle.u, gas.v, middle.pressure};
  }
  const double c_middle = c * std::pow(ratio, (gamma - 1) / (2 * gamma));
  if (speed <= gas.u - c) return gas;
  if (speed >= middle.u - c_middle) return {gas.density * std::pow(ratio, 1 / gamma), middle.u, gas.v, middle.pressure};
  const double inside = 2 / (gamma + 1) + g / c * (gas.u - speed);
  return {gas.density * std::pow(inside, 2 / (gamma - 1)), 2 / (gamma + 1) * (c + (gamma - 1) / 2 * gas.u + speed),
          gas.v, gas.pressure * std::pow(inside, 2 * gamma / (gamma - 1))};
}

}  // namespace

Gas riemann(const Gas& left, const Gas& right, double gamma, double speed) {
  const Middle middle = middle_of(left, right, gamma);
  if (speed <= middle.u) return left_of_contact(left, middle, gamma, speed);
  const Gas mirrored{right.density, -right.u, right.v, right.pressure};
  Gas gas = left_of_contact(mirrored, {middle.pressure, -middle.u}, gamma, -speed);
  gas.u = -gas.u;
  return gas;
}

double riemann_speed(const Gas& left, const Gas& right, double gamma) {
  const Middle middle = middle_of(left, right, gamma);
  double fastest = 0;
  const Gas beside_left = riemann(left, right, gamma, std::nextafter(middle.u, -1e300));
  const Gas beside_right = riemann(left, right, gamma, std::nextafter(middle.u, 1e300));
  for (const Gas& gas : {left, right, beside_left, beside_right}) {
    fastest = std::max(fastest, std::abs(gas.u) + sound(gas, gamma));
  }
  return fastest;
}

}  // namespace ridge::stencil
