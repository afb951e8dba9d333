// Python bindings of chirp-z transforms.
#include <complex>
#include <cstddef>

#include <pybind11/pybind11.h>
#include <ridge/fft/zoom.hpp>

#include "arrays.hpp"
#include "module.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

template <class T>
void run_zoom(const fft::ZoomProblem& problem, const py::object& input, const py::object& output) {
  const Elements complexes{sizeof(T) == 4 ? Element::complex64 : Element::complex128};
  const Array in(input, false, "the input", complexes), out(output, true, "the output", complexes);
  const auto from = in.span<const std::complex<T>>("the input");
  const auto to = out.span<std::complex<T>>("the output");
  const py::gil_scoped_release free;
  fft::Zoom<T>(problem).run(from, to);
}

}  // namespace

void add_zoom(py::module_& module) {
  // `input` is (batch, samples), `output` (batch, values), both packed and of one type.
  module.def("zoom", [](const py::object& input, const py::object& output, std::size_t samples, std::size_t values,
                        double from, double step, double radius, std::size_t batch, std::size_t threads) {
    const fft::ZoomProblem problem{.samples = samples,
                                   .values = values,
                                   .from = from,
                                   .step = step,
                                   .radius = radius,
                                   .batch = batch,
                                   .threads = threads};
    const bool single = py::str(input.attr("dtype")).cast<std::string>() == "complex64";
    single ? run_zoom<float>(problem, input, output) : run_zoom<double>(problem, input, output);
  });
}

}  // namespace ridge::python
