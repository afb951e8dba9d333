// Scenarios of gas flows: two with exact solutions (Sod's tube, the isentropic vortex), two for display (blast, shear).
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "stencil/problems/scenario_parts.hpp"

namespace ridge::stencil {
namespace {

using std::numbers::pi;

constexpr Gas kSodLeft{1, 0, 0, 1}, kSodRight{0.125, 0, 0, 0.1};
constexpr Gas kBlastInside{1, 0, 0, 10}, kBlastOutside{1, 0, 0, 0.1};

struct Flow {
  const char* name;
  std::vector<std::size_t> shape;
  double height, width;  // of the whole domain, centred at the origin
  const char* border;
};

const Flow& flow_named(const std::string& name) {
  static const std::vector<Flow> flows{
      {"sod", {4, 400}, 0.01, 1, "x=mirror,y=periodic"},
      {"vortex", {128, 128}, 10, 10, "periodic"},
      {"blast", {512, 512}, 1, 1, "mirror"},
      {"shear", {512, 512}, 1, 1, "periodic"},
  };
  for (const Flow& flow : flows) {
    if (name == flow.name) return flow;
  }
  throw Error(ErrorKind::invalid_argument, fmt::format("no flow \"{}\"; there are sod, vortex, blast and shear", name));
}

// Fastest wave that the flow ever has, so that one time step serves the whole run.
double fastest(const std::string& flow, double gamma) {
  if (flow == "sod") return riemann_speed(kSodLeft, kSodRight, gamma);
  if (flow == "blast") return riemann_speed(kBlastInside, kBlastOutside, gamma);  // a plane shock is stronger
  if (flow == "vortex") return 1 + 5 / (2 * pi) + std::sqrt(gamma);
  return 0.5 + 0.3 + std::sqrt(gamma * 2.5);
}

}  // namespace

Gas euler_initial(const std::string& flow, double gamma, double y, double x) {
  if (flow == "sod") return x < 0 ? kSodLeft : kSodRight;
  if (flow == "blast") return x * x + y * y < 0.01 ? kBlastInside : kBlastOutside;
  if (flow == "vortex") {  // Shu's vortex, advected along the diagonal
    const double strength = 5, r2 = x * x + y * y, swirl = strength / (2 * pi) * std::exp((1 - r2) / 2);
    const double temperature = 1 - (gamma - 1) * strength * strength / (8 * gamma * pi * pi) * std::exp(1 - r2);
    const double density = std::pow(temperature, 1 / (gamma - 1));
    return {density, 1 - y * swirl, 1 + x * swirl, density * temperature};
  }
  // Kelvin-Helmholtz: a heavy jet in a light gas that flows the other way, with a small perturbation.
  const double inside = 0.5 * (std::tanh((y + 0.25) / 0.02) - std::tanh((y - 0.25) / 0.02));
  const double wave = 0.05 * std::sin(4 * pi * x) *
                      (std::exp(-(y + 0.25) * (y + 0.25) / 0.005) + std::exp(-(y - 0.25) * (y - 0.25) / 0.005));
  return {1 + inside, inside - 0.5, wave, 2.5};
}

template <class T>
Scenario<T> euler_scenario(const EulerOptions& options) {
  const Flow& flow = flow_named(options.flow);
  const std::vector<std::size_t> shape = options.shape.empty() ? flow.shape : options.shape;
  check_shape(shape, 2, 2);
  // The width is given; cells are squares.
  const double dx = flow.width / static_cast<double>(shape[1]);
  const double dy = options.flow == "sod" ? dx : flow.height / static_cast<double>(shape[0]);
  const double speed = fastest(options.flow, options.gamma);
  Euler euler{.gamma = options.gamma, .dt = options.dt, .dy = dy, .dx = dx};
  if (!(options.courant > 0 && options.courant <= 1)) {
    throw Error(ErrorKind::invalid_argument,
                fmt::format("a Courant number of {}; above 0 and up to 1 is stable", options.courant));
  }
  if (euler.dt == 0) euler.dt = options.courant / (speed / dx + speed / dy);
  const double number = euler.dt * (speed / dx + speed / dy);
  if (number > 1) {
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("the time step {} is unstable: dt ((|u| + c) / dx + (|v| + c) / dy) would reach {:.3g} and must "
                    "stay below 1; use a dt of {:.3g}",
                    euler.dt, number, 0.8 * euler.dt / number));
  }
  Scenario<T> scenario{.name = "euler", .about = {}, .update = stencil::euler<T>(euler)};
  scenario.about = fmt::format("{}, Courant number up to {:.3g} (below 1)", options.flow, number);
  scenario.problem = {.shape = shape,
                      .borders = parse_borders(options.border.empty() ? flow.border : options.border, 2)};
  scenario.spacing = {dy, dx};
  scenario.dt = euler.dt;
  scenario.fields = {"density", "momentum_x", "momentum_y", "energy"};
  const double gamma = options.gamma;
  scenario.initial = [=, name = options.flow](const std::array<std::size_t, 3>& cell, T* values) {
    const double y = (static_cast<double>(cell[1]) + 0.5 - static_cast<double>(shape[0]) / 2) * dy;
    const double x = (static_cast<double>(cell[2]) + 0.5 - static_cast<double>(shape[1]) / 2) * dx;
    const Gas gas = euler_initial(name, gamma, y, x);
    values[0] = static_cast<T>(gas.density);
    values[1] = static_cast<T>(gas.density * gas.u);
    values[2] = static_cast<T>(gas.density * gas.v);
    values[3] = static_cast<T>(gas.pressure / (gamma - 1) + gas.density * (gas.u * gas.u + gas.v * gas.v) / 2);
  };
  const auto pressure = [gamma](const T* const* fields, std::size_t i) {
    const T density = fields[0][i], mx = fields[1][i], my = fields[2][i];
    return static_cast<T>(gamma - 1) * (fields[3][i] - T(0.5) * (mx * mx + my * my) / density);
  };
  const auto velocity = [](std::size_t field) {
    return [field](const T* const* fields, std::size_t count, T* out) {
      for (std::size_t i = 0; i < count; ++i) out[i] = fields[field][i] / fields[0][i];
    };
  };
  scenario.views = {field_view<T>("density", 0),
                    {"velocity_x", velocity(1)},
                    {"velocity_y", velocity(2)},
                    {"pressure", [pressure](const T* const* fields, std::size_t count, T* out) {
                       for (std::size_t i = 0; i < count; ++i) out[i] = pressure(fields, i);
                     }}};
  scenario.colours = "ember";
  scenario.complaint = [=](const T* const* fields, std::size_t count) -> std::string {
    for (std::size_t i = 0; i < count; ++i) {
      const Gas gas{static_cast<double>(fields[0][i]), static_cast<double>(fields[1][i] / fields[0][i]),
                    static_cast<double>(fields[2][i] / fields[0][i]), static_cast<double>(pressure(fields, i))};
      if (!(gas.density > 0) || !(gas.pressure > 0)) {
        return fmt::format(
            "the flow has a density of {:.3g} and a pressure of {:.3g} somewhere: use a smaller time step", gas.density,
            gas.pressure);
      }
      if (const double reached = courant_number(euler, gas); !(reached <= 1)) {
        return fmt::format(
            "the flow has become too fast for the time step {:.3g}: its Courant number is {:.3g} and must "
            "stay below 1: use a smaller one",
            euler.dt, reached);
      }
    }
    return "";
  };
  scenario.parameters = common_parameters(scenario);
  scenario.parameters["flow"] = options.flow;
  scenario.parameters["gamma"] = options.gamma;
  return scenario;
}

template Scenario<float> euler_scenario(const EulerOptions&);
template Scenario<double> euler_scenario(const EulerOptions&);

}  // namespace ridge::stencil
