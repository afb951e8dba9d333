// Python bindings of acoustic surveys.
#include <algorithm>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <ridge/stencil/survey.hpp>

#include "arrays.hpp"
#include "module.hpp"
#include "plans.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

std::vector<double> doubles(const py::handle& given, const char* what) {
  const Array array(given, false, what, {Element::float64});
  const auto values = array.span<const double>(what);
  return {values.begin(), values.end()};
}

void put(const std::vector<double>& from, const py::handle& to, const char* what) {
  const Array array(to, true, what, {Element::float64});
  const auto values = array.span<double>(what);
  if (values.size() != from.size())
    throw py::value_error(fmt::format("{} need {} values, got {}", what, from.size(), values.size()));
  std::copy(from.begin(), from.end(), values.begin());
}

// Tuples of sources, wavelets and receivers, all float64.
std::vector<stencil::Shot> shots_of(const py::list& given) {
  std::vector<stencil::Shot> shots;
  for (const py::handle one : given) {
    const auto parts = py::cast<py::tuple>(one);
    shots.push_back({.sources = doubles(parts[0], "sources"),
                     .wavelets = doubles(parts[1], "wavelets"),
                     .receivers = doubles(parts[2], "receivers")});
  }
  return shots;
}

template <class T>
constexpr Element kTraceElement = sizeof(T) == 4 ? Element::float32 : Element::float64;

// Nothing is saved, but signals are looked for after each step. Needs EndsBySignals.
stencil::RunCheckpoints looking_for_signals() {
  return {.due = [](std::size_t) {
    base::Interruptible::check();
    return false;
  }};
}

template <class T>
void record_shots(const stencil::Survey<T>& survey, const py::list& given, std::size_t steps, const py::object& out) {
  const std::vector<stencil::Shot> shots = shots_of(given);
  const Array array(out, true, "the traces", {kTraceElement<T>});
  const auto traces = array.span<T>("the traces");
  const py::gil_scoped_release free;
  const EndsBySignals ends;
  const std::vector<T> values = survey.record(shots, steps, nullptr, {}, {}, looking_for_signals());
  if (values.size() != traces.size())
    throw Error(ErrorKind::invalid_argument,
                fmt::format("the traces need {} values, got {}", values.size(), traces.size()));
  std::copy(values.begin(), values.end(), traces.begin());
}

// Returns the misfit and the description of the history.
template <class T>
py::tuple gradient_of_shots(const stencil::Survey<T>& survey, const py::list& given, std::size_t steps,
                            const py::object& observed, const py::dict& options, const py::object& velocity,
                            const py::object& wavelets) {
  const std::vector<stencil::Shot> shots = shots_of(given);
  const Array array(observed, false, "the traces", {kTraceElement<T>});
  const auto traces = array.span<const T>("the traces");
  const stencil::GradientOptions wanted{.memory = get<std::size_t>(options, "memory"),
                                        .error = get<double>(options, "error"),
                                        .exact = get<bool>(options, "exact"),
                                        .bits = get<int>(options, "bits"),
                                        .derivatives = get<bool>(options, "derivatives"),
                                        .progress = [](std::size_t) { base::Interruptible::check(); },
                                        .checkpoints = looking_for_signals()};
  stencil::Gradient made;
  {
    const py::gil_scoped_release free;
    const EndsBySignals ends;
    made = survey.gradient(shots, steps, traces, wanted);
  }
  put(made.velocity, velocity, "the velocity's derivatives");
  put(made.wavelets, wavelets, "the wavelets' derivatives");
  return py::make_tuple(made.misfit, made.explain);
}

template <class T>
void add_survey_of(py::module_& module, const std::string& number) {
  using Survey = stencil::Survey<T>;
  py::class_<Survey>(module, ("Survey" + number).c_str())
      .def(py::init([](const std::string& device, const std::vector<std::size_t>& shape, const py::object& velocity,
                       const py::dict& d, bool measured) {
        const stencil::SurveyMedium medium{.shape = shape,
                                           .velocity = doubles(velocity, "the velocity"),
                                           .spacing = get<double>(d, "spacing"),
                                           .dt = get<double>(d, "dt"),
                                           .frequency = get<double>(d, "frequency"),
                                           .accuracy = get<int>(d, "accuracy"),
                                           .layer = get<std::size_t>(d, "layer"),
                                           .free_surface = get<bool>(d, "free_surface"),
                                           .batch = get<std::size_t>(d, "batch")};
        const py::gil_scoped_release free;
        return Survey(ridge::device(device), medium, options_of(measured));
      }))
      .def("with_velocity",
           [](const Survey& survey, const py::object& velocity) {
             return survey.with_velocity(doubles(velocity, "the velocity"));
           })
      .def("ricker", &Survey::ricker, py::arg("steps"), py::arg("shift") = 0.0)
      .def("record", &record_shots<T>)
      .def("gradient", &gradient_of_shots<T>)
      .def("explain", &Survey::explain)
      .def("dt", [](const Survey& survey) { return survey.medium().dt; })
      .def("frequency", [](const Survey& survey) { return survey.medium().frequency; });
}

}  // namespace

void add_survey(py::module_& module) {
  add_survey_of<float>(module, "Float32");
  add_survey_of<double>(module, "Float64");
}

}  // namespace ridge::python
