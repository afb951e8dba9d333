// Scenarios of heat and waves: spots in a plate, a drop in a pond, modes with known solutions.
#include <cmath>
#include <numbers>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "stencil/problems/scenario_parts.hpp"

namespace ridge::stencil {
namespace {

using std::numbers::pi;
using Cell = std::array<std::size_t, 3>;

double squared_distance(const std::vector<std::size_t>& shape, const Cell& cell, double share) {
  double sum = 0;
  for (std::size_t axis = 3 - shape.size(); axis < 3; ++axis) {
    const double d = centre(shape, axis, cell[axis]) - share;
    sum += d * d;
  }
  return sum;
}

double spots(const std::vector<std::size_t>& shape, const Cell& cell) {
  if (squared_distance(shape, cell, 0.25) < 0.01) return -30;
  if (squared_distance(shape, cell, 0.75) < 0.01) return 30;
  return 1;
}

// One period along each axis: an eigenfunction with periodic borders.
double mode(const std::vector<std::size_t>& shape, const Cell& cell) {
  double value = 1;
  for (std::size_t axis = 3 - shape.size(); axis < 3; ++axis) {
    value *= std::sin(2 * pi * centre(shape, axis, cell[axis]));
  }
  return value;
}

std::uint64_t index_of(const std::vector<std::size_t>& shape, const Cell& cell) {
  std::uint64_t index = 0;
  for (std::size_t axis = 3 - shape.size(); axis < 3; ++axis)
    index = index * shape[axis - (3 - shape.size())] + cell[axis];
  return index;
}

void check_length(double length) {
  if (!std::isfinite(length) || length <= 0) {
    throw Error(ErrorKind::invalid_argument, fmt::format("a length of {}; it must be above 0", length));
  }
}

[[noreturn]] void no_initial(const std::string& asked, const char* known) {
  throw Error(ErrorKind::invalid_argument, fmt::format("no initial state \"{}\"; there are {}", asked, known));
}

}  // namespace

HeatOptions heat_demo() {
  return {.shape = {128, 128}, .border = "fixed", .initial = "spots", .alpha = 0.4, .dt = 1e-6, .length = 0.1664};
}

template <class T>
Scenario<T> heat_scenario(const HeatOptions& options) {
  check_shape(options.shape, 1, 3);
  check_length(options.length);
  const double dx = options.length / static_cast<double>(options.shape[0]);
  Heat heat{.alpha = options.alpha,
            .dt = options.dt,
            .spacing = std::vector<double>(options.shape.size(), dx),
            .accuracy = options.accuracy};
  if (heat.dt == 0) {
    heat.dt = 1;
    const double number = heat_number(heat);
    heat.dt = number > 0 ? 0.9 * heat_limit(heat.accuracy) / number : 1;
  }
  Scenario<T> scenario{.name = "heat", .about = {}, .update = stencil::heat<T>(heat)};
  scenario.about =
      fmt::format("alpha dt sum 1/dx^2 = {:.3g} (below {:.3g})", heat_number(heat), heat_limit(heat.accuracy));
  scenario.problem = {.shape = options.shape, .borders = parse_borders(options.border, options.shape.size())};
  scenario.spacing = heat.spacing;
  scenario.dt = heat.dt;
  scenario.fields = {"temperature"};
  scenario.views = {field_view<T>("temperature", 0)};
  scenario.colours = "balance";
  const auto shape = options.shape;
  if (options.initial == "spots") {
    scenario.low = -30;
    scenario.high = 30;
    scenario.initial = [shape](const Cell& cell, T* values) { values[0] = static_cast<T>(spots(shape, cell)); };
  } else if (options.initial == "mode") {
    scenario.initial = [shape](const Cell& cell, T* values) { values[0] = static_cast<T>(mode(shape, cell)); };
  } else if (options.initial == "random") {
    scenario.initial = [shape](const Cell& cell, T* values) {
      values[0] = static_cast<T>(2 * random_share(1, index_of(shape, cell)) - 1);
    };
  } else {
    no_initial(options.initial, "spots, mode and random");
  }
  scenario.parameters = common_parameters(scenario);
  scenario.parameters["alpha"] = options.alpha;
  scenario.parameters["length"] = options.length;
  scenario.parameters["accuracy"] = options.accuracy;
  return scenario;
}

template <class T>
Scenario<T> wave_scenario(const WaveOptions& options) {
  check_shape(options.shape, 1, 3);
  check_length(options.length);
  const double dx = options.length / static_cast<double>(options.shape[0]);
  Wave wave{.speed = options.speed, .dt = options.dt, .spacing = std::vector<double>(options.shape.size(), dx)};
  if (wave.dt == 0) {
    wave.dt = 1;
    const double number = courant_number(wave);
    wave.dt = number > 0 ? 0.9 / number : 1;
  }
  Scenario<T> scenario{.name = "wave", .about = {}, .update = stencil::wave<T>(wave)};
  scenario.about = fmt::format("Courant number {:.3g} (up to 1)", courant_number(wave));
  scenario.problem = {.shape = options.shape, .borders = parse_borders(options.border, options.shape.size())};
  scenario.spacing = wave.spacing;
  scenario.dt = wave.dt;
  scenario.fields = {"u", "u_before"};
  scenario.views = {field_view<T>("u", 0)};
  scenario.colours = "balance";
  const auto shape = options.shape;
  if (options.initial == "drop") {  // at rest
    scenario.low = -0.25;
    scenario.high = 0.25;
    scenario.initial = [shape](const Cell& cell, T* values) {
      values[0] = values[1] = static_cast<T>(std::exp(-squared_distance(shape, cell, 0.5) / (2 * 0.03 * 0.03)));
    };
  } else if (options.initial == "mode") {  // a standing wave at its crest
    double omega = 0;
    for (const std::size_t side : shape) {
      const double k = 2 * pi / (dx * static_cast<double>(side));
      omega += k * k;
    }
    const double before = std::cos(wave.speed * std::sqrt(omega) * wave.dt);
    scenario.low = -1;
    scenario.high = 1;
    scenario.initial = [shape, before](const Cell& cell, T* values) {
      const double value = mode(shape, cell);
      values[0] = static_cast<T>(value);
      values[1] = static_cast<T>(before * value);
    };
  } else {
    no_initial(options.initial, "drop and mode");
  }
  scenario.parameters = common_parameters(scenario);
  scenario.parameters["speed"] = options.speed;
  scenario.parameters["length"] = options.length;
  return scenario;
}

template Scenario<float> heat_scenario(const HeatOptions&);
template Scenario<double> heat_scenario(const HeatOptions&);
template Scenario<float> wave_scenario(const WaveOptions&);
template Scenario<double> wave_scenario(const WaveOptions&);

}  // namespace ridge::stencil
