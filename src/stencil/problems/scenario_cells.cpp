// Scenarios of cellular automata and image filters.
#include <cmath>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "stencil/problems/scenario_parts.hpp"

namespace ridge::stencil {

template <class T>
Scenario<T> life_scenario(const LifeOptions& options) {
  check_shape(options.shape, 2, 2);
  if (!(options.density >= 0 && options.density <= 1)) {
    throw Error(ErrorKind::invalid_argument, fmt::format("a density of {}; it is a share, 0 to 1", options.density));
  }
  Scenario<T> scenario{.name = "life", .about = options.rule, .update = life<T>(options.rule)};
  scenario.problem = {.shape = options.shape, .borders = parse_borders(options.border, 2)};
  scenario.spacing = {1, 1};
  scenario.fields = {"alive"};
  scenario.views = {field_view<T>("alive", 0)};
  scenario.initial = [shape = options.shape, density = options.density, seed = options.seed](
                         const std::array<std::size_t, 3>& cell, T* values) {
    values[0] = random_share(seed, cell[1] * shape[1] + cell[2]) < density ? T{1} : T{0};
  };
  scenario.colours = "grey";
  scenario.low = 0;
  scenario.high = 1;
  scenario.y_up = false;
  scenario.parameters = common_parameters(scenario);
  scenario.parameters["rule"] = options.rule;
  return scenario;
}

template <class T>
Scenario<T> convolve_scenario(const ConvolveOptions& options) {
  check_shape(options.shape, 2, 2);
  Scenario<T> scenario{.name = "convolve",
                       .about = options.kernel,
                       .update = convolution<T>(parse_kernel(options.kernel), options.channels)};
  scenario.problem = {.shape = options.shape, .borders = parse_borders(options.border, 2)};
  scenario.spacing = {1, 1};
  if (options.channels == 3) {
    scenario.fields = {"red", "green", "blue"};
  } else {
    for (std::size_t i = 0; i < options.channels; ++i)
      scenario.fields.push_back(i == 0 ? "value" : fmt::format("value_{}", i));
  }
  for (std::size_t i = 0; i < scenario.fields.size(); ++i)
    scenario.views.push_back(field_view<T>(scenario.fields[i], i));
  scenario.colours = "grey";
  scenario.low = 0;
  scenario.high = 255;
  scenario.y_up = false;
  scenario.parameters = common_parameters(scenario);
  scenario.parameters["kernel"] = options.kernel;
  return scenario;
}

template Scenario<std::uint8_t> life_scenario(const LifeOptions&);
template Scenario<std::int32_t> life_scenario(const LifeOptions&);
template Scenario<float> convolve_scenario(const ConvolveOptions&);
template Scenario<double> convolve_scenario(const ConvolveOptions&);

}  // namespace ridge::stencil
