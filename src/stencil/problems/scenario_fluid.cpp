// Scenarios of viscous flows with exact solutions: a decaying Beltrami vortex and a channel that starts from rest.
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "stencil/problems/scenario_parts.hpp"

namespace ridge::stencil {
namespace {

using std::numbers::pi;

// The Arnold-Beltrami-Childress flow with A = B = C = 1: its rotation equals its velocity, so that advection is a
// gradient, which the pressure balances, and viscosity only scales it.
FluidState vortex_at(double viscosity, double t, const std::array<double, 3>& at) {
  const auto [z, y, x] = at;
  const double decay = std::exp(-viscosity * t);
  const std::array<double, 3> v{decay * (std::sin(y) + std::cos(x)), decay * (std::sin(x) + std::cos(z)),
                                decay * (std::sin(z) + std::cos(y))};
  return {-0.5 * (v[0] * v[0] + v[1] * v[1] + v[2] * v[2]), v};
}

// Flow between plates at y = 0 and 1 under a force of 8 x viscosity, at rest for t = 0; the largest velocity tends to
// 1.
FluidState channel_at(double viscosity, double t, const std::array<double, 3>& at) {
  const double y = at[1];
  double u = 4 * y * (1 - y);
  for (int k = 1; k < 400; k += 2) {
    const double decay = std::exp(-viscosity * k * k * pi * pi * t);
    u -= 32 / (pi * pi * pi * k * k * k) * std::sin(k * pi * y) * decay;
    if (decay < 1e-18) break;
  }
  return {0, {0, 0, u}};
}

}  // namespace

FluidState fluid_exact(const std::string& flow, double viscosity, double t, const std::array<double, 3>& at) {
  if (flow == "vortex") return vortex_at(viscosity, t, at);
  if (flow == "channel") return channel_at(viscosity, t, at);
  throw Error(ErrorKind::invalid_argument, fmt::format("no flow \"{}\"; there are vortex and channel", flow));
}

std::array<double, 3> fluid_position(const FluidOptions& options, double h, const std::array<std::size_t, 3>& cell,
                                     int face) {
  std::array<double, 3> at{};
  for (std::size_t axis = 0; axis < 3; ++axis)
    at[axis] = (static_cast<double>(cell[axis]) + (static_cast<int>(axis) == face ? 0 : 0.5)) * h;
  if (options.flow == "channel") at[1] = static_cast<double>(cell[1]) * h;  // walls are the outermost cells
  return at;
}

template <class T>
Scenario<T> fluid_scenario(const FluidOptions& options) {
  const bool channel = options.flow == "channel";
  fluid_exact(options.flow, options.viscosity, 0, {});  // an error for unknown flows
  std::vector<std::size_t> shape = options.shape;
  if (shape.empty()) shape = channel ? std::vector<std::size_t>{16, 65, 64} : std::vector<std::size_t>{64, 64, 64};
  check_shape(shape, 3, 3);
  if (channel && shape[1] < 3)
    throw Error(ErrorKind::invalid_argument,
                fmt::format("a channel needs at least 3 cells along y (two walls), got {}", shape[1]));
  if (!channel && (shape[0] != shape[2] || shape[1] != shape[2]))
    throw Error(ErrorKind::invalid_argument, "the vortex needs a cube of cells, such as --size 64x64x64");
  const double h = channel ? 1 / static_cast<double>(shape[1] - 1) : 2 * pi / static_cast<double>(shape[2]);
  const double fastest = channel ? 1 : std::sqrt(6.0);
  Fluid fluid{.viscosity = options.viscosity, .sound = options.sound, .dt = options.dt, .spacing = {h, h, h}};
  if (channel) fluid.force[2] = 8 * options.viscosity;
  if (fluid.sound == 0) fluid.sound = 10 * fastest;
  if (fluid.dt == 0) {
    fluid.dt = 1;
    fluid.dt = 0.5 / fluid_number(fluid);
  }
  Scenario<T> scenario{.name = "fluid", .about = {}, .update = stencil::fluid<T>(fluid)};
  scenario.about = fmt::format("{}, stability number {:.3g} (below 1)", options.flow, fluid_number(fluid));
  const char* border = channel ? "x=periodic,y=fixed,z=periodic" : "periodic";
  scenario.problem = {.shape = shape, .borders = parse_borders(options.border.empty() ? border : options.border, 3)};
  scenario.spacing = {h, h, h};
  scenario.dt = fluid.dt;
  scenario.fields = {"pressure", "velocity_x", "velocity_y", "velocity_z", "rate_x", "rate_y", "rate_z"};
  scenario.initial = [=](const std::array<std::size_t, 3>& cell, T* values) {
    const auto exact = [&](const std::array<double, 3>& at) {
      return fluid_exact(options.flow, options.viscosity, 0, at);
    };
    values[0] = static_cast<T>(exact(fluid_position(options, h, cell, -1)).pressure);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      auto at = fluid_position(options, h, cell, static_cast<int>(axis));
      const double v = exact(at).velocity[axis];
      values[3 - axis] = static_cast<T>(v);
      // The rate one step before is that of the start: the pressure's gradient and, for the vortex, the decay.
      constexpr double kNear = 1e-4;
      at[axis] += kNear;
      const double high = exact(at).pressure;
      at[axis] -= 2 * kNear;
      values[6 - axis] =
          static_cast<T>((high - exact(at).pressure) / (2 * kNear) - (channel ? 0 : options.viscosity * v));
    }
  };
  for (std::size_t field = 0; field < 4; ++field)
    scenario.views.push_back(field_view<T>(scenario.fields[field == 3 ? 0 : field + 1], field == 3 ? 0 : field + 1));
  scenario.colours = "balance";
  scenario.complaint = [sound = fluid.sound](const T* const* fields, std::size_t count) -> std::string {
    for (std::size_t i = 0; i < count; ++i) {
      for (std::size_t field = 1; field < 4; ++field) {
        const auto speed = std::abs(static_cast<double>(fields[field][i]));
        if (!(speed < sound / 2))
          return fmt::format(
              "a velocity of {:.3g} is not small compared with the sound speed {:.3g}: use a larger "
              "--sound or a smaller --dt",
              speed, sound);
      }
    }
    return "";
  };
  scenario.parameters = common_parameters(scenario);
  scenario.parameters["flow"] = options.flow;
  scenario.parameters["viscosity"] = options.viscosity;
  scenario.parameters["sound"] = fluid.sound;
  return scenario;
}

template Scenario<float> fluid_scenario(const FluidOptions&);
template Scenario<double> fluid_scenario(const FluidOptions&);

}  // namespace ridge::stencil
