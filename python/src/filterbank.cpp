// Python bindings of filter banks: plans, sample streams, power, correlation and synthesis.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <pybind11/complex.h>
#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <ridge/filterbank.hpp>

#include "arrays.hpp"
#include "module.hpp"
#include "plans.hpp"
#include "windows.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

using namespace ridge::filterbank;  // NOLINT: this file binds one namespace only
using Complex = std::complex<float>;

// Contiguous bytes of any object with the buffer protocol.
class Bytes {
 public:
  explicit Bytes(py::handle object) {
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) {
      if (PyErr_ExceptionMatches(PyExc_BufferError) == 0 && PyErr_ExceptionMatches(PyExc_ValueError) == 0) {
        throw py::error_already_set();
      }
      PyErr_Clear();
      throw py::value_error("the samples must be contiguous: pass numpy.ascontiguousarray() of them");
    }
  }
  ~Bytes() { PyBuffer_Release(&view_); }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;
  std::span<const std::byte> span() const {
    return {static_cast<const std::byte*>(view_.buf), static_cast<std::size_t>(view_.len)};
  }

 private:
  Py_buffer view_{};
};

Samples samples_named(const std::string& name) {
  for (const Samples s : {Samples::int4, Samples::int8, Samples::int16, Samples::float32}) {
    if (name == to_string(s)) return s;
  }
  throw py::value_error("unknown samples \"" + name + "\": use " + to_string(Samples::int4) + ", " +
                        to_string(Samples::int8) + ", " + to_string(Samples::int16) + " or " +
                        to_string(Samples::float32));
}

Prototype prototype_named(const std::string& window, double shape, double width) {
  return {.window = window_named(window), .shape = shape, .width = width};
}

Problem problem_of(const py::dict& d) {
  Problem problem;
  problem.channels = get<std::size_t>(d, "channels");
  problem.taps = get<std::size_t>(d, "taps");
  problem.stations = get<std::size_t>(d, "stations");
  problem.polarizations = get<std::size_t>(d, "polarizations");
  problem.samples = samples_named(get<std::string>(d, "samples"));
  const auto [numerator, denominator] = get<std::pair<std::size_t, std::size_t>>(d, "oversampling");
  problem.oversampling = {numerator, denominator};
  problem.prototype = prototype_named(get<std::string>(d, "window"), get<double>(d, "shape"), get<double>(d, "width"));
  problem.weights = get<std::vector<double>>(d, "weights");
  problem.input_block = get<std::size_t>(d, "input_block");
  problem.centred = get<bool>(d, "centred");
  problem.bandpass = get<std::vector<Complex>>(d, "bandpass");
  problem.order = get<bool>(d, "by_channel") ? Order::channel : Order::time;
  problem.output_times = get<std::size_t>(d, "output_times");
  problem.delays = {.wanted = get<bool>(d, "delays"),
                    .frequency = get<double>(d, "frequency"),
                    .longest = get<std::size_t>(d, "longest_delay")};
  problem.threads = get<std::size_t>(d, "threads");
  return problem;
}

Plan make_plan(const std::string& device, const py::dict& given, bool measured) {
  const Problem problem = problem_of(given);
  const py::gil_scoped_release free;
  return Plan(ridge::device(device), problem, options_of(measured));
}

// Complex spectra and real sums, accessed in place.
std::span<const Complex> spectra_in(const Array& array) { return array.span<const Complex>("the spectra"); }

Products products_named(const std::string& name) {
  if (name == "total") return Products::total;
  if (name == "powers") return Products::powers;
  if (name == "stokes") return Products::stokes;
  throw py::value_error("unknown products \"" + name + "\": use total, powers or stokes");
}

const Elements kComplexes{Element::complex64};
const Elements kFloats{Element::float32};

void add_design(py::module_& module) {
  module.def("design_prototype",
             [](std::size_t channels, std::size_t taps, const std::string& window, double shape, double width) {
               return design(channels, taps, prototype_named(window, shape, width));
             });
  module.def("prototype_response", [](const std::vector<double>& prototype, std::size_t channels, double offset) {
    return response_db(prototype, channels, offset);
  });
  module.def("prototype_quality", [](const std::vector<double>& prototype, std::size_t channels, double beyond) {
    const Quality q = quality(prototype, channels, beyond);
    return py::make_tuple(q.leakage_db, q.ripple_db, q.edge_db);
  });
}

void add_bank(py::module_& module) {
  py::class_<Plan>(module, "Bank")
      .def(py::init(&make_plan))
      .def("hop", &Plan::hop)
      .def("history", &Plan::history)
      .def("spectrum_size", &Plan::spectrum_size)
      .def("flops", &Plan::flops)
      .def("bytes", &Plan::bytes)
      .def("variant", &Plan::variant)
      .def("explain", &Plan::explain)
      .def("weights", [](const Plan& plan) { return plan.problem().weights; })
      .def("adjoint",
           [](const Plan& plan, const py::object& spectra, const py::object& output) {
             const Array in(spectra, false, "the spectra", kComplexes), out(output, true, "the output", kComplexes);
             const std::span<const Complex> from = in.span<const Complex>("the spectra");
             const std::span<Complex> to = out.span<Complex>("the output");
             const py::gil_scoped_release free;
             plan.adjoint().samples(from, to);
           })
      .def("adjoint_weights",
           [](const Plan& plan, const py::object& samples, const py::object& spectra) {
             const Array in(samples, false, "the samples", kComplexes), g(spectra, false, "the spectra", kComplexes);
             const std::span<const Complex> x = in.span<const Complex>("the samples");
             const std::span<const Complex> from = g.span<const Complex>("the spectra");
             const py::gil_scoped_release free;
             return plan.adjoint().weights(x, from);
           })
      .def("device", [](const Plan& plan) { return plan.device().id(); })
      .def("trials", [](const Plan& plan) { return trials_of(plan.decisions()); });
}

void add_streams(py::module_& module) {
  py::class_<Stream>(module, "BankStream")
      .def(py::init<const Plan&>())
      .def("due", &Stream::due)
      .def("push",
           [](Stream& stream, const py::object& samples, const py::object& output) {
             const Bytes in(samples);
             const Array out(output, true, "the output", kComplexes);
             const std::span<Complex> spectra = out.span<Complex>("the output");
             return exclusively(&stream, [&] { return stream.push(in.span(), spectra); });
           })
      .def("start_at",
           [](Stream& s, std::uint64_t spectrum) { return exclusively(&s, [&] { return s.start_at(spectrum); }); })
      .def("samples", &Stream::samples)
      .def("spectra", &Stream::spectra)
      .def("replace_weights", [](Stream& s, const std::vector<double>& w,
                                 std::uint64_t sample) { exclusively(&s, [&] { s.replace_weights(w, sample); }); })
      .def("set_delays", [](Stream& s, std::uint64_t sample,
                            const std::vector<double>& d) { exclusively(&s, [&] { s.set_delays(sample, d); }); })
      .def("save", [](const Stream& s) { return py::bytes(exclusively(&s, [&] { return s.save(); })); })
      .def("restore", [](Stream& s, const std::string& state) { exclusively(&s, [&] { s.restore(state); }); });

  py::class_<PowerStream>(module, "PowerStream")
      .def(py::init([](const std::string& device, const py::dict& given, const std::string& products, std::size_t times,
                       std::size_t channels, bool measured) {
        const Problem problem = problem_of(given);
        const Detection detection{products_named(products), times, channels};
        const py::gil_scoped_release free;
        return std::make_unique<PowerStream>(ridge::device(device), problem, detection, options_of(measured));
      }))
      .def("row_size", &PowerStream::row_size)
      .def("variant", &PowerStream::variant)
      .def("due", &PowerStream::due)
      .def("push", [](PowerStream& stream, const py::object& samples, const py::object& output) {
        const Bytes in(samples);
        const Array out(output, true, "the output", kFloats);
        const std::span<float> sums = out.span<float>("the output");
        return exclusively(&stream, [&] { return stream.push(in.span(), sums); });
      });
}

void add_correlator(py::module_& module) {
  py::class_<Correlator>(module, "Correlator")
      .def(py::init([](const std::string& device, const py::dict& given, std::size_t times, std::size_t channels) {
        const Problem problem = problem_of(given);
        const Device where = ridge::device(device);
        const Correlation correlation{times, channels};
        return where.is_host() ? std::make_unique<Correlator>(problem, correlation)
                               : std::make_unique<Correlator>(where, problem, correlation);
      }))
      .def("baselines", &Correlator::baselines)
      .def("channels", &Correlator::channels)
      .def("size", &Correlator::size)
      .def("due", &Correlator::due)
      .def("push", [](Correlator& correlator, const py::object& spectra, const py::object& output) {
        const Array in(spectra, false, "the spectra", kComplexes), out(output, true, "the output", kComplexes);
        const std::span<const Complex> from = spectra_in(in);
        const std::span<Complex> to = out.span<Complex>("the output");
        return exclusively(&correlator, [&] { return correlator.push(from, to); });
      });
  module.def("correlator_adjoint", [](const py::dict& given, std::size_t times, std::size_t channels,
                                      const py::object& spectra, const py::object& gradient, const py::object& output) {
    const CorrelatorAdjoint adjoint(problem_of(given), {times, channels});
    const Array in(spectra, false, "the spectra", kComplexes), g(gradient, false, "the gradient", kComplexes),
        out(output, true, "the output", kComplexes);
    const std::span<const Complex> x = in.span<const Complex>("the spectra");
    const std::span<const Complex> from = g.span<const Complex>("the gradient");
    const std::span<Complex> to = out.span<Complex>("the output");
    const py::gil_scoped_release free;
    adjoint.run(x, from, to);
  });
}

void add_synthesis(py::module_& module) {
  py::class_<Synthesis>(module, "Synthesis")
      .def(py::init(
          [](const py::dict& given, double length) { return std::make_unique<Synthesis>(problem_of(given), length); }))
      .def("hop", &Synthesis::hop)
      .def("delay", &Synthesis::delay)
      .def("step_size", &Synthesis::step_size)
      .def("push", [](Synthesis& synthesis, const py::object& spectra, const py::object& output) {
        const Array in(spectra, false, "the spectra", kComplexes), out(output, true, "the output", kComplexes);
        const std::span<const Complex> from = spectra_in(in);
        const std::span<Complex> to = out.span<Complex>("the output");
        return exclusively(&synthesis, [&] { return synthesis.push(from, to); });
      });
}

}  // namespace

void add_filterbank(py::module_& module) {
  add_design(module);
  add_bank(module);
  add_streams(module);
  add_correlator(module);
  add_synthesis(module);
}

}  // namespace ridge::python
