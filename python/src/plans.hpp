// Helpers shared by the bindings of all plans.
#pragma once
#include <array>
#include <cstdint>
#include <mutex>
#include <string>
#include <vector>

#include <pybind11/pybind11.h>
#include <ridge/fft/tensor.hpp>
#include <ridge/plan.hpp>

namespace ridge::python {

inline planner::Options options_of(bool measured) {
  return {.effort = measured ? Effort::measured : Effort::quick, .save_wisdom = measured};
}

// Multiplies the first and the last value along every axis of a real-to-real problem: {first, last} before the
// transform, then {first, last} after it. Empty: nothing is multiplied.
inline void add_ends(fft::TensorProblem& problem, const std::vector<double>& ends) {
  if (ends.empty()) return;
  if (ends.size() != 4) throw pybind11::value_error("ends must be four factors");
  const auto factors = [&](double first, double last) {
    std::vector<std::vector<double>> lists;
    if (first == 1 && last == 1) return lists;
    for (const fft::Dimension& axis : problem.axes) {
      lists.emplace_back(axis.length, 1.0);
      lists.back().front() *= first;
      lists.back().back() *= last;
    }
    return lists;
  };
  problem.load = factors(ends[0], ends[1]);
  problem.store = factors(ends[2], ends[3]);
}

// Calls work() without Python's lock, one call per object at a time: for objects that threads may share although calls
// change them.
template <class Work>
auto exclusively(const void* object, const Work& work) {
  static std::array<std::recursive_mutex, 64> mutexes;  // work() may run a signal handler, which may call
  const pybind11::gil_scoped_release free;
  const std::lock_guard lock(mutexes[reinterpret_cast<std::uintptr_t>(object) / 64 % mutexes.size()]);
  return work();
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
