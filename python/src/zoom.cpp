// Python bindings of chirp-z transforms, and of transforms of arrays that end in zeros.
#include <complex>
#include <cstddef>
#include <functional>
#include <numeric>
#include <span>
#include <variant>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <ridge/fft.hpp>
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

// Strides of packed arrays whose neighbours along the last of these axes are `inner` elements apart.
fft::Strides strides_of(const std::vector<std::size_t>& shape, std::size_t inner) {
  if (inner == 1) return {};
  fft::Strides result{.axes = shape, .batch = 1};
  std::size_t stride = inner;
  for (std::size_t i = shape.size(); i-- > 0; stride *= shape[i]) result.axes[i] = stride;
  return result;
}

std::size_t product(const std::vector<std::size_t>& shape) {
  return std::accumulate(shape.begin(), shape.end(), std::size_t{1}, std::multiplies<>());
}

// Transforms along consecutive axes of packed arrays (outer, axes, inner). The input holds the first `given` values
// along each axis, and the others are zero.
class BoxPlan {
 public:
  BoxPlan(const std::vector<std::size_t>& shape, const std::vector<std::size_t>& given, std::size_t outer,
          std::size_t inner, bool real, bool inverse, bool single, double scale, std::size_t threads)
      : runs_(inner == 1 ? 1 : outer), real_(real), inverse_(inverse) {
    fft::Problem problem{.shape = shape,
                         .batch = inner == 1 ? outer : inner,
                         .kind = real ? fft::Kind::real : fft::Kind::complex,
                         .scale_forward = scale,
                         .scale_inverse = scale,
                         .threads = threads,
                         .directions = inverse ? fft::Directions::inverse : fft::Directions::forward};
    std::vector<std::size_t> written = shape;
    if (real && !inverse) written.back() = shape.back() / 2 + 1;
    (inverse ? problem.wanted : problem.given).count = given;
    (inverse ? problem.output : problem.input) = strides_of(given, inner);
    (inverse ? problem.input : problem.output) = strides_of(written, inner);
    in_step_ = product(given) * problem.batch;
    out_step_ = product(written) * problem.batch;
    const planner::Options options{.effort = Effort::quick};
    const py::gil_scoped_release free;
    if (single) {
      plan_.emplace<fft::Plan<float>>(host(), problem, options);
    } else {
      plan_.emplace<fft::Plan<double>>(host(), problem, options);
    }
  }
  void run(const py::object& input, const py::object& output) const {
    if (const auto* single = std::get_if<fft::Plan<float>>(&plan_)) run_plan(*single, input, output);
    if (const auto* twice = std::get_if<fft::Plan<double>>(&plan_)) run_plan(*twice, input, output);
  }

 private:
  template <class T>
  void run_plan(const fft::Plan<T>& plan, const py::object& input, const py::object& output) const {
    if (!real_) return run_typed<std::complex<T>, std::complex<T>>(plan, input, output);
    inverse_ ? run_typed<std::complex<T>, T>(plan, input, output) : run_typed<T, std::complex<T>>(plan, input, output);
  }
  template <class In, class Out, class T>
  void run_typed(const fft::Plan<T>& plan, const py::object& input, const py::object& output) const {
    const Array in(input, false, "the input"), out(output, true, "the output");
    const auto from = in.span<const In>("the input");
    const auto to = out.span<Out>("the output");
    const py::gil_scoped_release free;
    for (std::size_t i = 0; i < runs_; ++i) {
      const auto source = from.subspan(i * in_step_);
      const auto target = to.subspan(i * out_step_);
      if constexpr (std::is_same_v<Out, T>) {
        plan.inverse(source, target);
      } else if constexpr (std::is_same_v<In, T>) {
        plan.forward(source, target);
      } else {
        inverse_ ? plan.inverse(source, target) : plan.forward(source, target);
      }
    }
  }

  std::size_t runs_, in_step_ = 0, out_step_ = 0;
  bool real_, inverse_;
  std::variant<std::monostate, fft::Plan<float>, fft::Plan<double>> plan_;
};

}  // namespace

void add_zoom(py::module_& module) {
  py::class_<BoxPlan>(module, "BoxPlan")
      .def(py::init<const std::vector<std::size_t>&, const std::vector<std::size_t>&, std::size_t, std::size_t, bool,
                    bool, bool, double, std::size_t>())
      .def("run", &BoxPlan::run);
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
