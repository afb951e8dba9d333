// Python bindings of Fourier, cosine and sine transforms: axes and strides come from the arrays, plans from the cache.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <ridge/fft/convolution.hpp>
#include <ridge/fft/tensor.hpp>

#include "addressed.hpp"
#include "arrays.hpp"
#include "module.hpp"
#include "plans.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

using fft::Dimension;
using fft::TensorKind;
using fft::TensorProblem;

constexpr std::size_t kWorthReleasing = 4096;  // points; below this, reacquiring the GIL costs more than it gains

struct Request {
  TensorKind kind;
  std::vector<int> axes;  // axes to transform; real transforms halve the last one listed
  std::vector<int> real_kinds;
  double scale = 1;
  std::size_t threads = 1;
  std::vector<double> ends = {};  // of add_ends()
};

// Builds the problem. Shapes must agree except on the halved axis; the Python caller has padded, cut and allocated.
TensorProblem problem_of(const Request& request, const Array& in, const Array& out) {
  TensorProblem problem{.kind = request.kind, .scale = request.scale, .threads = request.threads};
  if (in.axes() != out.axes()) throw py::value_error("input and output have different numbers of axes");
  std::vector<bool> taken(in.axes());
  for (std::size_t i = 0; i < request.axes.size(); ++i) {
    const auto axis = static_cast<std::size_t>(request.axes[i]);
    if (request.axes[i] < 0 || axis >= in.axes() || taken[axis])
      throw py::value_error("axes must be distinct axes of the array");
    taken[axis] = true;
    const bool last = i + 1 == request.axes.size();
    const bool forward = last && request.kind == TensorKind::real_forward;
    const bool inverse = last && request.kind == TensorKind::real_inverse;
    const std::size_t n = inverse ? out.length(axis) : in.length(axis);
    if (n == 0) throw py::value_error("invalid number of data points (0) specified");
    if (forward ? out.length(axis) != n / 2 + 1 : inverse ? in.length(axis) != n / 2 + 1 : out.length(axis) != n) {
      throw py::value_error("the lengths of input and output do not match along axis " + std::to_string(axis));
    }
    problem.axes.push_back({n, in.stride(axis), out.stride(axis)});
  }
  for (std::size_t axis = 0; axis < in.axes(); ++axis) {
    if (taken[axis]) continue;
    if (in.length(axis) != out.length(axis)) throw py::value_error("the shapes of input and output do not match");
    problem.loops.push_back({in.length(axis), in.stride(axis), out.stride(axis)});
  }
  for (const int kind : request.real_kinds) problem.real_kinds.push_back(static_cast<fft::RealKind>(kind));
  add_ends(problem, request.ends);
  problem.in_place = in.data() == out.data();
  return problem;
}

void check_elements(TensorKind kind, const Array& in, const Array& out) {
  const bool real_in = kind == TensorKind::real_forward || kind == TensorKind::real_to_real;
  const bool real_out = kind == TensorKind::real_inverse || kind == TensorKind::real_to_real;
  if (is_complex(in.element()) == real_in)
    throw py::type_error(real_in ? "the input must be real" : "the input must be complex");
  if (is_complex(out.element()) == real_out) {
    throw py::type_error(real_out ? "the output must be real" : "the output must be complex");
  }
  if (is_single(in.element()) != is_single(out.element())) throw py::type_error("input and output differ in precision");
}

template <class T>
void run(const fft::TensorPlan<T>& plan, const void* in, std::size_t points, const Array& out) {
  if (points < kWorthReleasing) {
    plan.run(in, out.data());
  } else {
    const py::gil_scoped_release free;
    plan.run(in, out.data());
  }
}

bool share_memory(const Array& a, const Array& b) {
  const auto [a_first, a_end] = a.extent();
  const auto [b_first, b_end] = b.extent();
  return a_first < b_end && b_first < a_end;
}

// Copies all bytes of an array from its first to its last, gaps included.
std::vector<std::byte> bytes_of(const Array& array) {
  const auto [first, end] = array.extent();
  return {first, end};
}

// The problem of the arrays. An adjoint's arrays are those of the plain transform with input and output exchanged.
TensorProblem checked_problem(const Request& request, const Array& in, const Array& out, bool adjoint) {
  check_elements(request.kind, adjoint ? out : in, adjoint ? in : out);
  return adjoint ? fft::adjoint(problem_of(request, out, in)) : problem_of(request, in, out);
}

void transform(const py::object& input, const py::object& output, int kind, const std::vector<int>& axes,
               const std::vector<int>& real_kinds, double scale, std::size_t threads, bool adjoint,
               const std::vector<double>& ends) {
  const Array in(input, false, "the input"), out(output, true, "the output");
  const Request request{static_cast<TensorKind>(kind), axes, real_kinds, scale, threads, ends};
  if (out.size() == 0) return check_elements(request.kind, adjoint ? out : in, adjoint ? in : out);
  const TensorProblem problem = checked_problem(request, in, out, adjoint);
  if (is_single(in.element())) {
    run(fft::cached_tensor_plan<float>(problem, options_of(false)), in.data(), in.size(), out);
  } else {
    run(fft::cached_tensor_plan<double>(problem, options_of(false)), in.data(), in.size(), out);
  }
}

// A plan as a Python object: made for the layout of two arrays, run on any others of that layout.
class Plan : public Addressed {
 public:
  Plan(const py::object& input, const py::object& output, int kind, const std::vector<int>& axes,
       const std::vector<int>& real_kinds, double scale, std::size_t threads, bool measured, bool adjoint,
       const std::vector<double>& ends) {
    const Array in(input, false, "the input"), out(output, true, "the output");
    const Request request{static_cast<TensorKind>(kind), axes, real_kinds, scale, threads, ends};
    const TensorProblem problem = checked_problem(request, in, out, adjoint);
    shape_in_ = layout(in), shape_out_ = layout(out);
    const py::gil_scoped_release free;
    if (is_single(in.element())) {
      single_.emplace(host(), problem, options_of(measured));
    } else {
      double_.emplace(host(), problem, options_of(measured));
    }
  }

  void run(const py::object& input, const py::object& output) const {
    const Array in(input, false, "the input"), out(output, true, "the output");
    if (!same(in, shape_in_) || !same(out, shape_out_)) {
      throw py::value_error("the arrays must have the types, shapes and strides of the plan");
    }
    if ((in.data() == out.data()) != problem().in_place) {
      throw py::value_error(problem().in_place ? "this is an in-place plan: pass the same array as input and output"
                                               : "this is an out-of-place plan: pass two different arrays");
    }
    const bool apart = problem().in_place || !share_memory(in, out);
    const std::vector<std::byte> copied = apart ? std::vector<std::byte>() : bytes_of(in);
    const void* const from = apart ? in.data() : copied.data() + (in.data_bytes() - in.extent().first);
    if (single_) {
      python::run(*single_, from, in.size(), out);
    } else {
      python::run(*double_, from, in.size(), out);
    }
  }

  // Runs on memory of another library by its addresses. The caller guarantees two arrays of the plan's types, shapes
  // and strides that do not overlap.
  void run_at(std::uintptr_t in, std::uintptr_t out) const {
    const auto* const from = reinterpret_cast<const void*>(in);  // NOLINT: an address
    auto* const to = reinterpret_cast<void*>(out);               // NOLINT: an address
    std::size_t points = 1;
    for (std::size_t a = 1; a < shape_in_.size(); a += 2) points *= static_cast<std::size_t>(shape_in_[a]);
    std::optional<py::gil_scoped_release> free;
    if (points >= kWorthReleasing) free.emplace();
    single_ ? single_->run(from, to) : double_->run(from, to);
  }
  void transform(std::uintptr_t in, std::uintptr_t out, bool, std::uintptr_t) override { run_at(in, out); }

  std::string explain() const {
    std::string text = single_ ? single_->explain() : double_->explain();
    for (const planner::Decision& d : decisions()) text += d.explain();
    return text;
  }
  double flops() const { return single_ ? single_->flops() : double_->flops(); }
  py::list trials() const { return trials_of(decisions()); }

 private:
  using Layout = std::vector<std::ptrdiff_t>;
  static Layout layout(const Array& array) {
    Layout result{static_cast<std::ptrdiff_t>(array.element())};
    for (std::size_t a = 0; a < array.axes(); ++a) {
      result.push_back(static_cast<std::ptrdiff_t>(array.length(a)));
      result.push_back(array.stride(a));
    }
    return result;
  }
  static bool same(const Array& array, const Layout& wanted) {
    if (wanted.size() != 1 + 2 * array.axes() || wanted[0] != static_cast<std::ptrdiff_t>(array.element()))
      return false;
    for (std::size_t a = 0; a < array.axes(); ++a) {
      if (wanted[1 + 2 * a] != static_cast<std::ptrdiff_t>(array.length(a)) || wanted[2 + 2 * a] != array.stride(a)) {
        return false;
      }
    }
    return true;
  }
  const TensorProblem& problem() const { return single_ ? single_->problem() : double_->problem(); }
  const std::vector<planner::Decision>& decisions() const {
    return single_ ? single_->decisions() : double_->decisions();
  }

  std::optional<fft::TensorPlan<float>> single_;
  std::optional<fft::TensorPlan<double>> double_;
  Layout shape_in_, shape_out_;
};

// A filter applied to signals of one element type by convolution, or its adjoint.
class Convolution {
 public:
  Convolution(const py::object& filter, std::size_t threads, const std::string& device) {
    const Array weights(filter, false, "the filter");
    const fft::ConvolutionOptions options{.threads = threads};
    const auto make = [&]<class E>(E) {
      plan_.emplace<fft::Convolution<E>>(ridge::device(device), weights.span<const E>("the filter"), options);
    };
    element_ = weights.element();
    if (element_ == Element::float32) make(float());
    if (element_ == Element::float64) make(double());
    if (element_ == Element::complex64) make(std::complex<float>());
    if (element_ == Element::complex128) make(std::complex<double>());
  }
  void run(const py::object& input, const py::object& output) const {
    const Array in(input, false, "the signal", {element_}), out(output, true, "the output", {element_});
    visit([&]<class E>(const fft::Convolution<E>& plan) {
      const auto from = in.span<const E>("the signal");
      const auto to = out.span<E>("the output");
      const py::gil_scoped_release free;
      plan.run(from, to);
    });
  }
  Convolution adjoint() const {
    Convolution result(*this);
    visit([&](const auto& plan) { result.plan_ = plan.adjoint(); });
    return result;
  }
  std::string explain() const {
    std::string text;
    visit([&](const auto& plan) { text = plan.explain(); });
    return text;
  }
  std::size_t filter_size() const {
    std::size_t size = 0;
    visit([&](const auto& plan) { size = plan.filter_size(); });
    return size;
  }

 private:
  template <class Use>
  void visit(const Use& use) const {
    std::visit(
        [&](const auto& plan) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(plan)>, std::monostate>) use(plan);
        },
        plan_);
  }
  Element element_{};
  std::variant<std::monostate, fft::Convolution<float>, fft::Convolution<double>, fft::Convolution<std::complex<float>>,
               fft::Convolution<std::complex<double>>>
      plan_;
};

}  // namespace

void add_fft(py::module_& module) {
  py::class_<Convolution>(module, "Convolution")
      .def(py::init<const py::object&, std::size_t, const std::string&>(), py::arg("filter"), py::arg("threads") = 1,
           py::arg("device") = "host")
      .def("run", &Convolution::run)
      .def("adjoint", &Convolution::adjoint)
      .def("explain", &Convolution::explain)
      .def("filter_size", &Convolution::filter_size);
  module.def("transform", &transform, py::arg("input"), py::arg("output"), py::arg("kind"), py::arg("axes"),
             py::arg("real_kinds") = std::vector<int>(), py::arg("scale") = 1.0, py::arg("threads") = 1,
             py::arg("adjoint") = false, py::arg("ends") = std::vector<double>());
  module.def("forget_plans", [] {
    forget_quick_plans();
    fft::forget_cached_plans();
  });
  py::class_<Plan, Addressed>(module, "Plan")
      .def(py::init<const py::object&, const py::object&, int, const std::vector<int>&, const std::vector<int>&, double,
                    std::size_t, bool, bool, const std::vector<double>&>(),
           py::arg("input"), py::arg("output"), py::arg("kind"), py::arg("axes"),
           py::arg("real_kinds") = std::vector<int>(), py::arg("scale") = 1.0, py::arg("threads") = 1,
           py::arg("measured") = true, py::arg("adjoint") = false, py::arg("ends") = std::vector<double>())
      .def("run", &Plan::run)
      .def("run_at", &Plan::run_at)
      .def("explain", &Plan::explain)
      .def("flops", &Plan::flops)
      .def("trials", &Plan::trials);
}

}  // namespace ridge::python
