// Python bindings of the planner, for variants written in Python: it uses names, costs and a function that times a
// candidate.
#include <string>
#include <vector>

#include <pybind11/functional.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <ridge/plan.hpp>

#include "module.hpp"
#include "plans.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

planner::Candidate candidate_of(const py::dict& given) {
  return {.variant = get<std::string>(given, "name"),
          .refusal = get<std::string>(given, "refusal"),
          .cost = {.flops = get<double>(given, "flops"),
                   .bytes = get<double>(given, "bytes"),
                   .efficiency = get<double>(given, "efficiency"),
                   .float64 = get<bool>(given, "float64"),
                   .threads = get<std::size_t>(given, "threads")}};
}

// Returns (winner, rows of trials_of, explanation).
py::tuple decide(const std::string& device, const std::string& key, const std::vector<py::dict>& given, double flops,
                 double bytes, bool use_wisdom, const py::function& seconds) {
  std::vector<planner::Candidate> candidates;
  for (const py::dict& one : given) candidates.push_back(candidate_of(one));
  const planner::Decision decision = planner::decide(
      ridge::device(device), {.workload = key.substr(0, key.find(' ')), .key = key, .flops = flops, .bytes = bytes},
      candidates, {.use_wisdom = use_wisdom, .save_wisdom = use_wisdom},
      [&](std::size_t i) { return py::cast<double>(seconds(candidates[i].variant)); });
  return py::make_tuple(candidates[decision.winner].variant, trials_of({decision}), decision.explain());
}

}  // namespace

void add_planner(py::module_& module) {
  module.def("decide", &decide, py::arg("device"), py::arg("key"), py::arg("candidates"), py::arg("flops"),
             py::arg("bytes"), py::arg("wisdom"), py::arg("seconds"));
  module.def("improve", [](const std::string& mode) {
    using planner::Improve;
    if (mode != "never" && mode != "next_time" && mode != "now")
      throw py::value_error("improve needs \"never\", \"next_time\" or \"now\", got \"" + mode + "\"");
    planner::set_improve(mode == "now" ? Improve::now : mode == "never" ? Improve::never : Improve::next_time);
  });
  module.def("wait_for_improvements", &planner::wait_for_improvements, py::call_guard<py::gil_scoped_release>());
  py::class_<planner::Hold>(module, "Hold").def(py::init<>(), py::call_guard<py::gil_scoped_release>());
}

}  // namespace ridge::python
