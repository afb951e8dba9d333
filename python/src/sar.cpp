// Python bindings of SAR: simulation, focusing and measurement of the point response.
#include <complex>
#include <cstddef>
#include <span>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <cstring>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <ridge/sar/backprojection.hpp>
#include <ridge/sar/omega_k.hpp>

#include "arrays.hpp"
#include "module.hpp"
#include "plans.hpp"
#include "windows.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

using namespace ridge::sar;  // NOLINT: this file binds one namespace only

const Elements kComplexes{Element::complex64};

Problem problem_of(const py::dict& d) {
  Problem problem;
  problem.radar = {.carrier_hz = get<double>(d, "carrier_hz"),
                   .bandwidth_hz = get<double>(d, "bandwidth_hz"),
                   .pulse_s = get<double>(d, "pulse_s"),
                   .sample_rate_hz = get<double>(d, "sample_rate_hz"),
                   .pulse_rate_hz = get<double>(d, "pulse_rate_hz"),
                   .speed_m_s = get<double>(d, "speed_m_s"),
                   .near_range_m = get<double>(d, "near_range_m"),
                   .beam_rad = get<double>(d, "beam_rad")};
  problem.pulses = get<std::size_t>(d, "pulses");
  problem.samples = get<std::size_t>(d, "samples");
  problem.window = window_named(get<std::string>(d, "window"));
  problem.doppler_share = get<double>(d, "doppler_share");
  problem.threads = get<std::size_t>(d, "threads");
  return problem;
}

py::dict describe(const Response& response) {
  const auto cut = [](const Cut& c) {
    py::dict d;
    d["position"] = c.position, d["width"] = c.width, d["side_lobe_db"] = c.side_lobe_db;
    return d;
  };
  py::dict d;
  d["peak"] = response.peak, d["range"] = cut(response.range), d["along"] = cut(response.along);
  return d;
}

using Offsets = std::vector<std::pair<double, double>>;  // along the track and towards the scene, in metres

std::vector<Offset> track_of(const Offsets& offsets) {
  std::vector<Offset> track;
  for (const auto& [along, range] : offsets) track.push_back({.along_m = along, .range_m = range});
  return track;
}

void check_shape(const Array& array, std::size_t rows, std::size_t columns, const char* what) {
  if (array.axes() != 2 || array.length(0) != rows || array.length(1) != columns) {
    throw py::value_error(std::string(what) + " must have the shape (" + std::to_string(rows) + ", " +
                          std::to_string(columns) + ")");
  }
}

void simulate_into(const py::dict& given, const std::vector<std::tuple<double, double, double>>& points,
                   const Offsets& offsets, const py::object& output) {
  const Problem problem = problem_of(given);
  check(problem);
  const Array out(output, true, "the output", kComplexes);
  check_shape(out, problem.pulses, problem.samples, "the output");
  const std::span<Complex> echoes = out.span<Complex>("the output");
  std::vector<Target> targets;
  for (const auto& [along, range, amplitude] : points) targets.push_back({along, range, amplitude});
  const std::vector<Offset> track = track_of(offsets);
  const py::gil_scoped_release free;
  const std::vector<Complex> made = simulate(problem, targets, track);
  std::memcpy(echoes.data(), made.data(), echoes.size_bytes());
}

const Problem& frame_of(const BackprojectionProblem& problem) { return problem.frame; }
const Problem& frame_of(const Problem& problem) { return problem; }

template <class Focus>
void run(const Focus& plan, const py::object& input, const py::object& output) {
  const Array in(input, false, "the echoes", kComplexes), out(output, true, "the image", kComplexes);
  const Problem& frame = frame_of(plan.problem());
  check_shape(in, frame.pulses, frame.samples, "the echoes");
  check_shape(out, frame.samples, frame.pulses, "the image");
  const std::span<const Complex> echoes = in.span<const Complex>("the echoes");
  const std::span<Complex> image = out.span<Complex>("the image");
  const py::gil_scoped_release free;
  const EndsBySignals ends;
  plan.run(echoes, image);
}

Backprojection made_backprojection(const std::string& device, const py::dict& given, bool is_factorized,
                                   const Offsets& offsets, std::size_t group) {
  const BackprojectionProblem problem{.frame = problem_of(given),
                                      .method = is_factorized ? Method::factorized : Method::direct,
                                      .track = track_of(offsets),
                                      .group = group};
  const py::gil_scoped_release free;
  return Backprojection(ridge::device(device), problem);
}

std::vector<std::pair<double, double>> estimated_track(const py::dict& given, const py::object& input,
                                                       std::size_t iterations, std::size_t targets) {
  const Problem problem = problem_of(given);
  const Array in(input, false, "the echoes", kComplexes);
  check_shape(in, problem.pulses, problem.samples, "the echoes");
  const std::span<const Complex> echoes = in.span<const Complex>("the echoes");
  Offsets offsets;
  const py::gil_scoped_release free;
  const EndsBySignals ends;
  for (const Offset& offset : autofocus(problem, echoes, {.iterations = iterations, .targets = targets}))
    offsets.emplace_back(offset.along_m, offset.range_m);
  return offsets;
}

}  // namespace

void add_sar(py::module_& module) {
  module.def("sar_check", [](const py::dict& given) { check(problem_of(given)); });
  module.def("sar_cells", [](const py::dict& given) {
    const Problem problem = problem_of(given);
    return py::make_tuple(range_cell(problem.radar), along_cell(problem.radar), doppler_band(problem));
  });
  module.def("sar_simulate", &simulate_into);
  module.def("sar_measure",
             [](const py::dict& given, const py::object& image, double range, double along, std::size_t reach) {
               const Problem problem = problem_of(given);
               const Array in(image, false, "the image", kComplexes);
               check_shape(in, problem.samples, problem.pulses, "the image");
               return describe(measure(problem, in.span<const Complex>("the image"), range, along, reach));
             });
  module.def("sar_expected", [](const py::dict& given) { return describe(expected(problem_of(given))); });
  py::class_<Plan>(module, "SarPlan")
      .def(py::init([](const std::string& device, const py::dict& given, bool measured) {
        const Problem problem = problem_of(given);
        const py::gil_scoped_release free;
        return Plan(ridge::device(device), problem, options_of(measured));
      }))
      .def("run", &run<Plan>)
      .def("explain", &Plan::explain)
      .def("flops", &Plan::flops)
      .def("bytes", &Plan::bytes)
      .def("device", [](const Plan& plan) { return plan.device().id(); })
      .def("trials", [](const Plan& plan) { return trials_of(plan.decisions()); });
  py::class_<Backprojection>(module, "SarBackprojection")
      .def(py::init(&made_backprojection))
      .def("run", &run<Backprojection>)
      .def("updates", &Backprojection::updates)
      .def("explain", &Backprojection::explain);
  py::class_<OmegaK>(module, "SarOmegaK")
      .def(py::init([](const py::dict& given) {
        const Problem problem = problem_of(given);
        const py::gil_scoped_release free;
        return OmegaK(problem);
      }))
      .def("run", &run<OmegaK>)
      .def("explain", &OmegaK::explain);
  module.def("sar_autofocus", &estimated_track);
}

}  // namespace ridge::python
