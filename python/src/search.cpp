// Python bindings of the pulse search: simulation, candidates, folding, periods, voltages and beams.
#include <algorithm>
#include <array>
#include <complex>
#include <cstring>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <ridge/search.hpp>
#include <ridge/search/beams.hpp>
#include <ridge/search/coherent.hpp>
#include <ridge/search/fold.hpp>
#include <ridge/search/periods.hpp>

#include "arrays.hpp"
#include "module.hpp"
#include "plans.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

const Elements kPower{Element::uint8, Element::uint16, Element::float32};

search::Band band_of(const py::dict& d, std::size_t channels) {
  return {.channels = channels,
          .first_mhz = get<double>(d, "first_mhz"),
          .step_mhz = get<double>(d, "step_mhz"),
          .interval = get<double>(d, "interval")};
}

// Rows of power, (times, channels).
struct PowerRows {
  PowerRows(const py::object& object, bool writable) : array(object, writable, "the power", kPower) {
    if (array.axes() != 2) throw py::value_error("the power must have the shape (times, channels)");
    bytes = {static_cast<std::byte*>(array.packed("the power")), array.size() * size_of(array.element())};
  }
  std::size_t bits() const { return 8 * size_of(array.element()); }
  Array array;
  std::span<std::byte> bytes;
};

void simulate_rows(const py::object& output, const py::dict& band,
                   const std::vector<std::tuple<double, double, std::size_t, double>>& pulses, std::uint64_t seed) {
  const PowerRows out(output, true);
  search::Simulation simulation{.band = band_of(band, out.array.length(1)), .bits = out.bits(), .seed = seed};
  for (const auto& [dm, time, samples, snr] : pulses) simulation.pulses.push_back({dm, time, samples, snr});
  const py::gil_scoped_release free;
  search::simulate(simulation, 0, out.array.length(0), out.bytes);
}

py::list find_pulses(const std::string& device, const py::object& input, const py::dict& band, const py::dict& given,
                     const std::string& variant) {
  const PowerRows in(input, false);
  search::Settings settings{.dm_begin = get<double>(given, "dm_begin"),
                            .dm_end = get<double>(given, "dm_end"),
                            .tolerance = get<double>(given, "tolerance"),
                            .threshold = get<double>(given, "threshold"),
                            .widest = get<std::size_t>(given, "widest"),
                            .bits = in.bits()};
  settings.threads = get<std::size_t>(given, "threads");
  settings.flagging.threshold = get<double>(given, "flag");
  const search::Band of = band_of(band, in.array.length(1));
  std::vector<search::Candidate> found;
  {
    const py::gil_scoped_release free;
    search::Stream stream(ridge::device(device), of, settings, {.effort = Effort::quick, .variant = variant});
    stream.push(in.bytes);
    found = stream.finish();
  }
  py::list list;
  for (const search::Candidate& one : found) {
    py::dict d;
    d["dm"] = one.dm, d["time"] = one.time, d["snr"] = one.snr, d["width"] = one.width;
    d["samples"] = one.samples, d["sample"] = one.sample, d["members"] = one.members;
    d["dm_first"] = one.dm_first, d["dm_last"] = one.dm_last;
    list.append(d);
  }
  return list;
}

double fold_rows(const py::object& input, const py::dict& band, const py::dict& given, const py::object& output) {
  const PowerRows in(input, false);
  const Array out(output, true, "the profile", {Element::float64});
  if (out.axes() != 2) throw py::value_error("the profile must have the shape (subbands, bins)");
  const std::span<double> to = out.span<double>("the profile");
  const search::FoldSettings settings{
      .bins = out.length(1), .subbands = out.length(0), .dm = get<double>(given, "dm"), .bits = in.bits()};
  const search::Rotation rotation{.frequency = get<double>(given, "frequency"),
                                  .derivative = get<double>(given, "derivative")};
  const search::Band of = band_of(band, in.array.length(1));
  const py::gil_scoped_release free;
  search::Folder folder(of, rotation, settings);
  folder.push(in.bytes);
  const search::Profile profile = folder.profile();
  const std::vector<double> mean = profile.mean();
  std::copy(mean.begin(), mean.end(), to.begin());
  return profile.snr();
}

py::list find_all_periods(const std::string& device, const py::object& input, const py::dict& band,
                          const py::dict& given) {
  const PowerRows in(input, false);
  const search::Band of = band_of(band, in.array.length(1));
  search::PeriodSettings settings{.acceleration_begin = get<double>(given, "acceleration_begin"),
                                  .acceleration_end = get<double>(given, "acceleration_end"),
                                  .harmonics = get<std::size_t>(given, "harmonics"),
                                  .threshold = get<double>(given, "threshold")};
  const double dm = get<double>(given, "dm");
  std::vector<search::PeriodCandidate> found;
  {
    const py::gil_scoped_release free;
    search::Dedisperser series(of, dm, in.bits());
    series.push(in.bytes);
    found = search::find_periods(ridge::device(device), series.finish(), of.interval, settings);
  }
  py::list list;
  for (const search::PeriodCandidate& one : found) {
    py::dict d;
    d["period"] = one.period, d["frequency"] = one.frequency, d["acceleration"] = one.acceleration;
    d["sigma"] = one.sigma, d["harmonics"] = one.harmonics;
    list.append(d);
  }
  return list;
}

using Voltage = std::complex<float>;

void dedisperse_voltages(const std::string& device, const py::object& input, const py::dict& given,
                         const py::object& output) {
  const Array in(input, false, "the voltages", {Element::complex64});
  const Array out(output, true, "the output", {Element::complex64});
  const std::span<const Voltage> from = in.span<const Voltage>("the voltages");
  const std::span<Voltage> to = out.span<Voltage>("the output");
  const search::CoherentProblem problem{.centre_mhz = get<double>(given, "centre_mhz"),
                                        .rate_mhz = get<double>(given, "rate_mhz"),
                                        .dm = get<double>(given, "dm"),
                                        .length = get<std::size_t>(given, "length"),
                                        .taper = get<double>(given, "taper")};
  const py::gil_scoped_release free;
  search::CoherentPlan(ridge::device(device), problem).run(from, to);
}

search::BeamArithmetic beam_arithmetic(const std::string& name) {
  if (name == "float32") return search::BeamArithmetic::float32;
  if (name == "float16") return search::BeamArithmetic::float16;
  if (name == "int8") return search::BeamArithmetic::int8;
  throw py::value_error(fmt::format("no arithmetic \"{}\": use float32, float16 or int8", name));
}

void form_beams(const std::string& device, const py::object& input, const py::object& factors, const py::dict& given,
                const py::object& output) {
  const Array in(input, false, "the voltages", {Element::complex64, Element::uint8});
  const Array weights(factors, false, "the weights", {Element::complex64});
  const Array out(output, true, "the power", {Element::float32});
  const bool bytes = in.element() == Element::uint8;  // signed, seen as unsigned
  if (in.axes() != (bytes ? 4 : 3))
    throw py::value_error(
        "the voltages must have the shape (channels, times, stations), or int8 with a last axis of 2");
  if (weights.axes() != 3 || weights.length(0) != in.length(0) || weights.length(2) != in.length(2))
    throw py::value_error("the weights must have the shape (channels, beams, stations)");
  const search::BeamProblem problem{.stations = in.length(2),
                                    .beams = weights.length(1),
                                    .times = in.length(1),
                                    .channels = in.length(0),
                                    .integrate = get<std::size_t>(given, "integrate"),
                                    .incoherent = get<bool>(given, "incoherent"),
                                    .arithmetic = beam_arithmetic(get<std::string>(given, "arithmetic")),
                                    .scale = get<float>(given, "scale")};
  const std::span<const Voltage> by = weights.span<const Voltage>("the weights");
  const std::span<float> to = out.span<float>("the power");
  const auto run = [&](auto from) {
    const py::gil_scoped_release free;
    search::Beamformer beams(ridge::device(device), problem);
    beams.set_weights(by);
    beams.power(from, to);
  };
  if (bytes) {
    const auto view = in.span<const std::uint8_t>("the voltages");
    run(std::span(reinterpret_cast<const std::int8_t*>(view.data()), view.size()));
  } else {
    run(in.span<const Voltage>("the voltages"));
  }
}

void plane_wave_weights(const py::object& positions, const py::object& directions, const py::object& frequencies,
                        const py::object& output) {
  const Array stations(positions, false, "the positions", {Element::float64});
  const Array sources(directions, false, "the directions", {Element::float64});
  const Array channels(frequencies, false, "the frequencies", {Element::float64});
  const Array out(output, true, "the weights", {Element::complex64});
  const auto vectors = [](const Array& array, const char* name) {
    if (array.axes() != 2 || array.length(1) != 3)
      throw py::value_error(fmt::format("{} must have the shape (count, 3)", name));
    const std::span<const double> values = array.span<const double>(name);
    std::vector<std::array<double, 3>> all(array.length(0));
    for (std::size_t i = 0; i < values.size(); ++i) all[i / 3][i % 3] = values[i];
    return all;
  };
  const std::vector<Voltage> weights =
      search::beam_weights(vectors(stations, "the positions"), vectors(sources, "the directions"),
                           channels.span<const double>("the frequencies"));
  const std::span<Voltage> to = out.span<Voltage>("the weights");
  if (to.size() != weights.size()) throw py::value_error("the weights need the shape (channels, beams, stations)");
  std::copy(weights.begin(), weights.end(), to.begin());
}

}  // namespace

void add_search(py::module_& module) {
  module.def("search_simulate", &simulate_rows);
  module.def("search_find", &find_pulses);
  module.def("search_fold", &fold_rows);
  module.def("search_periods", &find_all_periods);
  module.def("search_dedisperse", &dedisperse_voltages);
  module.def("search_beamform", &form_beams);
  module.def("search_beam_weights", &plane_wave_weights);
}

}  // namespace ridge::python
