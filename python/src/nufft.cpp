// Python bindings of nonuniform transforms.
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <ridge/foreign.hpp>
#include <ridge/nufft.hpp>

#include "arrays.hpp"
#include "module.hpp"
#include "plans.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

nufft::Problem nufft_problem(const py::dict& d) {
  return {.type = static_cast<nufft::Type>(get<int>(d, "type")),
          .modes = get<std::vector<std::size_t>>(d, "modes"),
          .points = get<std::size_t>(d, "points"),
          .epsilon = get<double>(d, "epsilon"),
          .sign = get<int>(d, "sign"),
          .batch = get<std::size_t>(d, "batch"),
          .order = get<bool>(d, "fft_order") ? nufft::Order::fft : nufft::Order::centered,
          .fold = get<bool>(d, "fold"),
          .upsampling = get<double>(d, "upsampling"),
          .threads = get<std::size_t>(d, "threads"),
          .real = get<bool>(d, "real")};
}

template <class T>
constexpr Element kRealElement = sizeof(T) == 4 ? Element::float32 : Element::float64;
template <class T>
constexpr Element kComplexElement = sizeof(T) == 4 ? Element::complex64 : Element::complex128;

// Coordinates, one array per axis. Holds the buffers.
template <class T>
struct Axes {
  std::vector<std::unique_ptr<Array>> arrays;
  std::vector<std::span<const T>> spans;

  Axes(const py::list& given, const char* what) {
    for (const py::handle axis : given) {
      arrays.push_back(std::make_unique<Array>(axis, false, what, Elements{kRealElement<T>}));
      spans.push_back(arrays.back()->template span<const T>(what));
    }
  }
  std::span<const T> at(std::size_t i) const { return i < spans.size() ? spans[i] : std::span<const T>(); }
};

// Copies of a plan share everything but their points. Points are set in a copy, which replaces the plan with Python's
// lock held; runs use a copy too. So a run in one thread keeps its points while another thread sets new ones.
template <class Plan, class Work>
void set_in_copy(Plan& plan, const Work& work) {
  Plan changed = plan;
  {
    const py::gil_scoped_release free;
    work(changed);
  }
  std::swap(plan, changed);
}

template <class T>
void set_nufft_points(nufft::Plan<T>& plan, const py::list& given) {
  const Axes<T> axes(given, "the coordinates");
  set_in_copy(plan, [&](nufft::Plan<T>& copy) { copy.set_points(axes.at(0), axes.at(1), axes.at(2)); });
}

template <class T>
void set_type3_points(nufft::Type3Plan<T>& plan, const py::list& points, const py::list& frequencies) {
  const Axes<T> from(points, "the points"), to(frequencies, "the frequencies");
  set_in_copy(plan, [&](nufft::Type3Plan<T>& copy) { copy.set_points(from.spans, to.spans); });
}

// Runs a plan of any type, or its adjoint.
template <class T, class Plan>
void run_nufft(const Plan& given, const py::object& input, const py::object& output, bool adjoint) {
  const Plan plan = given;
  const Elements complexes{kComplexElement<T>};
  const Array in(input, false, "the input", complexes), out(output, true, "the output", complexes);
  const auto from = in.span<const std::complex<T>>("the input");
  const auto to = out.span<std::complex<T>>("the output");
  const py::gil_scoped_release free;
  if (adjoint) {
    plan.adjoint(from, to);
  } else {
    plan.run(from, to);
  }
}

// Runs a plan with real strengths and values, or its adjoint.
template <class T>
void run_real_nufft(const nufft::Plan<T>& given, const py::object& input, const py::object& output, bool adjoint) {
  const nufft::Plan<T> plan = given;
  const bool to_modes = (plan.problem().type == nufft::Type::to_modes) != adjoint;
  const Elements reals{kRealElement<T>}, complexes{kComplexElement<T>};
  const Array in(input, false, "the input", to_modes ? reals : complexes);
  const Array out(output, true, "the output", to_modes ? complexes : reals);
  const auto run = [&](auto from, auto to) {
    const py::gil_scoped_release free;
    adjoint ? plan.adjoint_real(from, to) : plan.run_real(from, to);
  };
  if (to_modes) {
    run(in.span<const T>("the input"), out.span<std::complex<T>>("the output"));
  } else {
    run(in.span<const std::complex<T>>("the input"), out.span<T>("the output"));
  }
}

template <class T>
void run_slopes(const nufft::Plan<T>& given, const py::object& modes, const py::object& values,
                const py::object& slopes) {
  const nufft::Plan<T> plan = given;
  const Elements complexes{kComplexElement<T>};
  const Array in(modes, false, "the modes", complexes), out(values, true, "the values", complexes);
  const Array by(slopes, true, "the slopes", complexes);
  const auto from = in.span<const std::complex<T>>("the modes");
  const auto to = out.span<std::complex<T>>("the values"), derivatives = by.span<std::complex<T>>("the slopes");
  const py::gil_scoped_release free;
  plan.slopes(from, to, derivatives);
}

// Arrays of another library on the plan's device: packed, at addresses, used on that library's stream. The caller keeps
// them allocated until the stream has passed the work.
using Address = std::uintptr_t;

Queue queue_at(const Device& device, Address stream) {
  return device.is_host() ? device.queue() : queue_over(device, stream);
}

template <class T>
void set_points_at(nufft::Plan<T>& plan, std::size_t count, const std::vector<Address>& axes, Address stream) {
  set_in_copy(plan, [&](nufft::Plan<T>& copy) {
    if (count == 0) return copy.set_points({}, {}, {});
    std::vector<Buffer> buffers;
    for (const Address axis : axes) buffers.push_back(buffer_over(copy.device(), axis, count * sizeof(T)));
    Queue queue = queue_at(copy.device(), stream);
    copy.set_points(queue, count, buffers);
  });
}

template <class T>
std::size_t bytes_of_modes(const nufft::Problem& problem) {
  std::size_t bytes = problem.batch * sizeof(std::complex<T>);
  for (const std::size_t n : problem.modes) bytes *= n;
  return bytes;
}

template <class T>
void enqueue_nufft(const nufft::Plan<T>& given, Address input, Address output, bool adjoint, Address stream) {
  const nufft::Plan<T> plan = given;
  const py::gil_scoped_release free;
  const std::size_t modes = bytes_of_modes<T>(plan.problem());
  const std::size_t values = plan.problem().batch * plan.points() * sizeof(std::complex<T>);
  const bool to_modes = (plan.problem().type == nufft::Type::to_modes) != adjoint;
  const Buffer in = buffer_over(plan.device(), input, to_modes ? values : modes);
  const Buffer out = buffer_over(plan.device(), output, to_modes ? modes : values);
  Queue queue = queue_at(plan.device(), stream);
  adjoint ? plan.enqueue_adjoint(queue, in, out) : plan.enqueue(queue, in, out);
}

// `values` gets the values, then the derivatives by each coordinate.
template <class T>
void enqueue_slopes(const nufft::Plan<T>& given, Address modes, Address values, Address stream) {
  const nufft::Plan<T> plan = given;
  const py::gil_scoped_release free;
  const std::size_t each = plan.problem().batch * plan.points() * sizeof(std::complex<T>);
  const Buffer in = buffer_over(plan.device(), modes, bytes_of_modes<T>(plan.problem()));
  const Buffer out = buffer_over(plan.device(), values, (1 + plan.problem().modes.size()) * each);
  Queue queue = queue_at(plan.device(), stream);
  plan.enqueue_slopes(queue, in, out);
}

template <class T>
void enqueue_type3(const nufft::Type3Plan<T>& given, Address input, Address output, bool adjoint, Address stream) {
  const nufft::Type3Plan<T> plan = given;
  const py::gil_scoped_release free;
  const std::size_t each = plan.problem().batch * sizeof(std::complex<T>);
  const std::size_t points = plan.points() * each, frequencies = plan.frequencies() * each;
  const Buffer in = buffer_over(plan.device(), input, adjoint ? frequencies : points);
  const Buffer out = buffer_over(plan.device(), output, adjoint ? points : frequencies);
  Queue queue = queue_at(plan.device(), stream);
  adjoint ? plan.enqueue_adjoint(queue, in, out) : plan.enqueue(queue, in, out);
}

template <class T>
void run_normal(const nufft::Normal<T>& normal, const py::object& input, const py::object& output) {
  const Elements complexes{kComplexElement<T>};
  const Array in(input, false, "the input", complexes), out(output, true, "the output", complexes);
  const auto from = in.span<const std::complex<T>>("the input");
  const auto to = out.span<std::complex<T>>("the output");
  const py::gil_scoped_release free;
  normal.run(from, to);
}

template <class T>
void add_nufft_plans(py::module_& module, const std::string& number) {
  using Plan = nufft::Plan<T>;
  py::class_<Plan>(module, ("NufftPlan" + number).c_str())
      .def(py::init([](const std::string& device, const py::dict& given, bool measured) {
        const nufft::Problem problem = nufft_problem(given);
        const py::gil_scoped_release free;
        return Plan(ridge::device(device), problem, options_of(measured));
      }))
      .def("set_points", &set_nufft_points<T>)
      .def("points", &Plan::points)
      .def("run", &run_nufft<T, Plan>)
      .def("run_real", &run_real_nufft<T>)
      .def("slopes", &run_slopes<T>)
      .def("copy", [](const Plan& plan) { return Plan(plan); })
      .def("set_points_at", &set_points_at<T>)
      .def("enqueue", &enqueue_nufft<T>)
      .def("enqueue_slopes", &enqueue_slopes<T>)
      .def("explain", &Plan::explain)
      .def("flops", &Plan::flops)
      .def("bytes", &Plan::bytes)
      .def("device", [](const Plan& plan) { return plan.device().id(); })
      .def("trials", [](const Plan& plan) { return trials_of(plan.decisions()); });
  using Type3 = nufft::Type3Plan<T>;
  py::class_<Type3>(module, ("NufftType3" + number).c_str())
      .def(py::init([](const std::string& device, std::size_t axes, double epsilon, int sign, std::size_t batch,
                       std::size_t threads) {
        const py::gil_scoped_release free;
        return Type3(ridge::device(device),
                     {.axes = axes, .epsilon = epsilon, .sign = sign, .batch = batch, .threads = threads});
      }))
      .def("set_points", &set_type3_points<T>)
      .def("points", &Type3::points)
      .def("frequencies", &Type3::frequencies)
      .def("run", &run_nufft<T, Type3>)
      .def("enqueue", &enqueue_type3<T>)
      .def("explain", &Type3::explain)
      .def("device", [](const Type3& plan) { return plan.device().id(); })
      .def("trials", [](const Type3&) { return py::list(); });
  using Normal = nufft::Normal<T>;
  py::class_<Normal>(module, ("NufftNormal" + number).c_str())
      .def(py::init(
          [](const std::string& device, const py::dict& given, const py::list& points, const py::list& weights) {
            const nufft::Problem problem = nufft_problem(given);
            const Axes<T> axes(points, "the coordinates"), factors(weights, "the weights");
            const py::gil_scoped_release free;
            return Normal(ridge::device(device), problem, axes.spans, factors.at(0));
          }))
      .def("run", &run_normal<T>);
}

}  // namespace

void add_nufft(py::module_& module) {
  add_nufft_plans<float>(module, "Float");
  add_nufft_plans<double>(module, "Double");
  module.def("nufft_least_epsilon", [](bool single, std::size_t axes) {
    return single ? nufft::least_epsilon<float>(axes) : nufft::least_epsilon<double>(axes);
  });
}

}  // namespace ridge::python
