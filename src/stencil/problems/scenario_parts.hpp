// Shared by the scenarios: cell positions and checkpoint parameters.
#pragma once
#include <algorithm>
#include <string>
#include <vector>

#include "stencil/problems/scenario.hpp"

namespace ridge::stencil {

void check_shape(const std::vector<std::size_t>& shape, std::size_t least_axes, std::size_t most_axes);

// Centre of cell i of axis `axis` (of z, y, x) relative to the axis length, 0 to 1.
inline double centre(const std::vector<std::size_t>& shape, std::size_t axis, std::size_t i) {
  const std::size_t missing = 3 - shape.size();
  return axis < missing ? 0.5 : (static_cast<double>(i) + 0.5) / static_cast<double>(shape[axis - missing]);
}

template <class T>
View<T> field_view(const std::string& name, std::size_t field) {
  return {name, [field](const T* const* fields, std::size_t count, T* out) { std::copy_n(fields[field], count, out); }};
}

// Parameters that every checkpoint of the scenario must match, before the problem's own.
template <class T>
base::Json common_parameters(const Scenario<T>& scenario) {
  base::Json json = base::Json::object();
  json["problem"] = scenario.name;
  json["size"] = scenario.problem.shape;
  json["border"] = borders_text(scenario.problem.borders, scenario.problem.shape.size());
  json["dt"] = scenario.dt;
  return json;
}

}  // namespace ridge::stencil
