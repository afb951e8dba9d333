// Helpers shared by the bindings of all plans.
#pragma once
#include <string>
#include <vector>

#include <pybind11/pybind11.h>
#include <ridge/plan.hpp>

namespace ridge::python {

inline planner::Options options_of(bool measured) {
  return {.effort = measured ? Effort::measured : Effort::quick, .save_wisdom = measured};
}

// Rows (problem, variant, predicted seconds, measured seconds, reason of rejection, chosen) of every candidate.
inline pybind11::list trials_of(const std::vector<planner::Decision>& decisions) {
  pybind11::list rows;
  for (const planner::Decision& decision : decisions) {
    for (std::size_t i = 0; i < decision.trials.size(); ++i) {
      const planner::Trial& trial = decision.trials[i];
      rows.append(pybind11::make_tuple(decision.problem.key, trial.name, trial.predicted_seconds,
                                       trial.measured_seconds, trial.reason, i == decision.winner));
    }
  }
  return rows;
}

// Member `name` of the problem's dict as T; TypeError with its name and value if the conversion fails.
template <class T>
T get(const pybind11::dict& dict, const char* name) {
  try {
    return pybind11::cast<T>(dict[name]);
  } catch (const pybind11::cast_error&) {
    throw pybind11::type_error(std::string(name) + ": " + pybind11::repr(dict[name]).cast<std::string>() +
                               " is not a valid value");
  }
}

}  // namespace ridge::python
