// Python bindings of transforms of arrays in device memory: complex and real transforms over the last axes, cosine and
// sine transforms over any, and rearrangement of axes and lengths.
#include <algorithm>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <variant>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <ridge/fft.hpp>
#include <ridge/fft/device_tensor.hpp>
#include <ridge/foreign.hpp>

#include "addressed.hpp"
#include "aligned.hpp"
#include "device_array.hpp"
#include "fft/device/rearrange.hpp"
#include "module.hpp"
#include "plans.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

class DevicePlan : public Addressed {
 public:
  // `given`: lengths of the stored part of the input per axis; the rest is zero. Empty: everything. With it, as with a
  // storage, and unless `both`, the plan has one direction.
  DevicePlan(const std::string& device, bool single, const std::vector<std::size_t>& shape, std::size_t batch,
             bool real, double scale_forward, double scale_inverse, bool measured, const std::string& storage,
             bool only_inverse, bool adjoint, const std::vector<std::size_t>& given, bool both)
      : DevicePlan(ridge::device(device), single, adjoint,
                   fft::Problem{.shape = shape,
                                .batch = batch,
                                .kind = real ? fft::Kind::real : fft::Kind::complex,
                                .scale_forward = scale_forward,
                                .scale_inverse = scale_inverse,
                                .storage = storage_named(storage),
                                .directions = both && storage.empty() && given.empty() ? fft::Directions::both
                                              : only_inverse                           ? fft::Directions::inverse
                                                                                       : fft::Directions::forward,
                                .given = fft::Box{.count = only_inverse ? std::vector<std::size_t>() : given},
                                .wanted = {.count = only_inverse ? given : std::vector<std::size_t>()}},
                   measured) {}

  void run(const DeviceArray& in, const DeviceArray& out, bool inverse) {
    const Device& device = std::visit([](const auto& plan) -> const Device& { return plan.device(); }, *plan_);
    check_device(in, device, "the input");
    check_device(out, device, "the output");
    check(inverse ? out : in, true, inverse ? "the output" : "the input");
    check(inverse ? in : out, false, inverse ? "the input" : "the output");
    const py::gil_scoped_release free;
    const std::lock_guard lock(mutex_);
    if (device.is_host()) return run_16_bit(in, out, inverse);
    std::visit([&](const auto& plan) { enqueue_on(queue_, plan, inverse, in.buffer(), out.buffer()); }, *plan_);
    queue_.finish();
  }

  // Uploads a packed array, transforms it and downloads the result: in panels if they exceed the device's memory.
  void run_host(const py::object& input, const py::object& output, bool inverse) const {
    std::visit([&](const auto& plan) { run_arrays(plan, input, output, inverse); }, *plan_);
  }

  // Enqueues a transform between addresses of another library on its stream and does not wait. The caller guarantees
  // packed arrays of the plan's sizes that stay allocated until the stream has passed this point. On the host the
  // transform is complete on return.
  void enqueue(std::uintptr_t in, std::uintptr_t out, bool inverse, std::uintptr_t stream) {
    const py::gil_scoped_release free;
    const std::lock_guard lock(mutex_);
    std::visit(
        [&](const auto& plan) {
          const Device& device = plan.device();
          if (device.is_host()) {
            if (plan.problem().storage != fft::Storage::same)
              throw Error(ErrorKind::invalid_argument, "16-bit floats on the host have no addresses here: use run()");
            const auto* const from = reinterpret_cast<const void*>(in);  // NOLINT: an address
            auto* const to = reinterpret_cast<void*>(out);               // NOLINT: an address
            return inverse ? plan.inverse_unchecked(from, to) : plan.forward_unchecked(from, to);
          }
          const bool real = plan.problem().kind == fft::Kind::real;
          const std::size_t number = sizeof(typename std::decay_t<decltype(plan)>::Real);
          const std::size_t value = plan.problem().storage == fft::Storage::same ? number : sizeof(std::uint16_t);
          const bool single_values = plan.problem().storage != fft::Storage::same;  // sizes count values, not pairs
          const std::size_t samples = plan.input_size() * value * (real || single_values ? 1 : 2);
          const std::size_t spectrum = plan.output_size() * value * (single_values ? 1 : 2);
          if (!over_ || stream != stream_) over_.emplace(queue_over(device, stream)), stream_ = stream;
          enqueue_on(*over_, plan, inverse, buffer_over(device, in, inverse ? spectrum : samples),
                     buffer_over(device, out, inverse ? samples : spectrum));
        },
        *plan_);
  }
  void transform(std::uintptr_t in, std::uintptr_t out, bool inverse, std::uintptr_t stream) override {
    enqueue(in, out, inverse, stream);
  }

  std::string explain() const {
    return std::visit([](const auto& plan) { return plan.explain(); }, *plan_);
  }
  py::list trials() const {
    return std::visit([](const auto& plan) { return trials_of(plan.decisions()); }, *plan_);
  }

 private:
  template <class Plan>
  void enqueue_on(Queue& queue, const Plan& plan, bool inverse, const Buffer& in, const Buffer& out) {
    const Buffer &from = from_.of(in, queue, true), &to = to_.of(out, queue, false);
    inverse ? plan.enqueue_inverse(queue, from, to) : plan.enqueue_forward(queue, from, to);
    to_.return_to(out, queue);
  }
  template <class T>
  static void run_arrays(const fft::Plan<T>& plan, const py::object& input, const py::object& output, bool inverse) {
    const auto typed = [&]<class In, class Out>(In, Out) {
      const Array in(input, false, "the input", {element_of<In>()}),
          out(output, true, "the output", {element_of<Out>()});
      const auto from = in.span<const In>("the input");
      const auto to = out.span<Out>("the output");
      const py::gil_scoped_release free;
      if constexpr (std::is_same_v<Out, T>) {
        plan.inverse(from, to);
      } else if constexpr (std::is_same_v<In, T>) {
        plan.forward(from, to);
      } else {
        inverse ? plan.inverse(from, to) : plan.forward(from, to);
      }
    };
    if (plan.problem().kind == fft::Kind::complex) return typed(std::complex<T>(), std::complex<T>());
    inverse ? typed(std::complex<T>(), T()) : typed(T(), std::complex<T>());
  }
  template <class E>
  static Element element_of() {
    if constexpr (std::is_same_v<E, float>) return Element::float32;
    if constexpr (std::is_same_v<E, double>) return Element::float64;
    return sizeof(E) == sizeof(std::complex<float>) ? Element::complex64 : Element::complex128;
  }

  DevicePlan(const Device& device, bool single, bool adjoint, const fft::Problem& plain, bool measured)
      : queue_(device.queue()) {
    const py::gil_scoped_release free;
    const fft::Problem problem = adjoint ? fft::adjoint(plain) : plain;
    if (single) {
      plan_ = std::make_unique<Any>(fft::Plan<float>(device, problem, options_of(measured)));
    } else {
      plan_ = std::make_unique<Any>(fft::Plan<double>(device, problem, options_of(measured)));
    }
  }

  // samples: the input of a forward transform; real numbers for a real plan.
  void check(const DeviceArray& array, bool samples, const char* what) const {
    const bool single = std::holds_alternative<fft::Plan<float>>(*plan_);
    const auto sizes = std::visit(
        [](const auto& plan) {
          return std::tuple(plan.input_size(), plan.output_size(), plan.problem().kind == fft::Kind::real);
        },
        *plan_);
    const auto& [input, output, real] = sizes;
    const bool stored_16_bit =
        std::visit([](const auto& plan) { return plan.problem().storage != fft::Storage::same; }, *plan_);
    // Sizes of 16-bit plans count numbers, those of the others complex values where the array is complex.
    const Element wanted = stored_16_bit     ? Element::float16
                           : samples && real ? (single ? Element::float32 : Element::float64)
                                             : (single ? Element::complex64 : Element::complex128);
    if (array.element() != wanted && !(stored_16_bit && array.element() == Element::uint16)) {
      throw py::type_error(std::string(what) + " must hold " + to_string(wanted) + ", got " +
                           to_string(array.element()));
    }
    if (array.size() != (samples ? input : output)) {
      throw py::value_error(std::string(what) + " must have the plan's size of " +
                            std::to_string(samples ? input : output) + " values, got " + std::to_string(array.size()));
    }
  }

  static fft::Storage storage_named(const std::string& name) {
    return name == "float16" ? fft::Storage::float16 : name == "bfloat16" ? fft::Storage::bfloat16 : fft::Storage::same;
  }

  // Transforms of 16-bit floats: the only plans that also run here on the host.
  void run_16_bit(const DeviceArray& in, const DeviceArray& out, bool inverse) const {
    const auto& plan = std::get<fft::Plan<float>>(*plan_);
    const std::span from(reinterpret_cast<const std::uint16_t*>(in.address()), in.size());  // NOLINT: an address
    const std::span to(reinterpret_cast<std::uint16_t*>(out.address()), out.size());        // NOLINT: an address
    inverse ? plan.inverse(from, to) : plan.forward(from, to);
  }

  using Any = std::variant<fft::Plan<float>, fft::Plan<double>>;
  std::unique_ptr<Any> plan_;
  Queue queue_;
  std::optional<Queue> over_;  // over the stream of the last enqueue()
  std::uintptr_t stream_ = 0;
  AlignedCopy from_, to_;
  std::mutex mutex_;
};

// Cosine and sine transforms along given axes of a packed array, or the adjoint of that. `ends`: of add_ends().
class DeviceRealPlan : public Addressed {
 public:
  DeviceRealPlan(const std::string& device, bool single, const std::vector<std::size_t>& shape,
                 const std::vector<std::size_t>& axes, const std::vector<int>& kinds, double scale, bool in_place,
                 bool adjoint, const std::vector<double>& ends)
      : device_(ridge::device(device)), queue_(device_.queue()), single_(single) {
    fft::TensorProblem problem{.kind = fft::TensorKind::real_to_real, .in_place = in_place, .scale = scale};
    for (const int kind : kinds) problem.real_kinds.push_back(static_cast<fft::RealKind>(kind));
    std::vector<fft::Dimension> all(shape.size());
    std::ptrdiff_t stride = 1;
    for (std::size_t axis = shape.size(); axis-- > 0;) {
      all[axis] = {shape[axis], stride, stride};
      stride *= static_cast<std::ptrdiff_t>(shape[axis]);
    }
    for (const std::size_t axis : axes) problem.axes.push_back(all.at(axis));
    for (std::size_t axis = 0; axis < all.size(); ++axis) {
      if (std::find(axes.begin(), axes.end(), axis) == axes.end()) problem.loops.push_back(all[axis]);
    }
    elements_ = static_cast<std::size_t>(stride);
    add_ends(problem, ends);
    if (adjoint) problem = fft::adjoint(problem);
    const py::gil_scoped_release free;
    if (single) {
      plan_.emplace<fft::DeviceTensorPlan<float>>(device_, problem, options_of(false));
    } else {
      plan_.emplace<fft::DeviceTensorPlan<double>>(device_, problem, options_of(false));
    }
  }

  void run(const DeviceArray& in, const DeviceArray& out) {
    for (const DeviceArray* array : {&in, &out}) {
      check_device(*array, device_, "the array");
      if (array->element() != (single_ ? Element::float32 : Element::float64)) {
        throw py::type_error("cosine and sine transforms need real numbers of the plan's precision");
      }
      if (array->size() != elements_) throw py::value_error("the array must have the plan's size");
    }
    const py::gil_scoped_release free;
    const std::lock_guard lock(mutex_);
    enqueue_on(queue_, in.buffer(), out.buffer());
    queue_.finish();
  }

  void transform(std::uintptr_t in, std::uintptr_t out, bool, std::uintptr_t stream) override {
    enqueue(in, out, stream);
  }
  // As DevicePlan::enqueue.
  void enqueue(std::uintptr_t in, std::uintptr_t out, std::uintptr_t stream) {
    const py::gil_scoped_release free;
    const std::lock_guard lock(mutex_);
    const std::size_t bytes = elements_ * (single_ ? sizeof(float) : sizeof(double));
    if (!over_ || stream != stream_) over_.emplace(queue_over(device_, stream)), stream_ = stream;
    const Buffer from = buffer_over(device_, in, bytes);
    enqueue_on(*over_, from, in == out ? from : buffer_over(device_, out, bytes));
  }

 private:
  void enqueue_on(Queue& queue, const Buffer& in, const Buffer& out) {
    const bool in_place = &in.state() == &out.state();
    const Buffer& from = from_.of(in, queue, true);
    const Buffer& to = in_place ? from : to_.of(out, queue, false);
    std::visit(
        [&](const auto& plan) {
          if constexpr (!std::is_same_v<std::decay_t<decltype(plan)>, std::monostate>) plan.enqueue(queue, from, to);
        },
        plan_);
    (in_place ? from_ : to_).return_to(out, queue);
  }

  Device device_;
  Queue queue_;
  bool single_;
  std::size_t elements_ = 0;
  std::variant<std::monostate, fft::DeviceTensorPlan<float>, fft::DeviceTensorPlan<double>> plan_;
  std::optional<Queue> over_;  // over the stream of the last enqueue()
  std::uintptr_t stream_ = 0;
  AlignedCopy from_, to_;
  std::mutex mutex_;
};

// Makes rearranged copies of arrays on the same device.
class Rearranger {
 public:
  Rearranger(const std::string& device, bool single, bool complex_input, bool complex_output, bool conjugate)
      : device_(ridge::device(device)),
        queue_(device_.queue()),
        in_(complex_input ? (single ? Element::complex64 : Element::complex128)
                          : (single ? Element::float32 : Element::float64)),
        out_(complex_output ? (single ? Element::complex64 : Element::complex128)
                            : (single ? Element::float32 : Element::float64)),
        kernels_(device_, {!single, complex_input, complex_output, conjugate}) {}

  // Axis i of the result is axis order[i] of the array, cut or zero-padded to lengths[i].
  DeviceArray rearranged(const DeviceArray& array, const std::vector<std::size_t>& order,
                         const std::vector<std::size_t>& lengths) {
    check(array, in_);
    const std::vector<std::size_t>& shape = array.shape();
    if (order.size() != shape.size() || lengths.size() != shape.size())
      throw py::value_error("order and lengths need one entry per axis");
    std::vector<std::uint64_t> strides(shape.size(), 1);
    for (std::size_t axis = shape.size(); axis-- > 1;) strides[axis - 1] = strides[axis] * shape[axis];
    fft::on_device::Rearrangement wanted;
    for (std::size_t i = 0; i < order.size(); ++i) {
      wanted.shape.push_back(lengths[i]);
      wanted.lengths.push_back(shape.at(order[i]));
      wanted.strides.push_back(strides[order[i]]);
    }
    DeviceArray made(device_, out_, lengths);
    if (made.size() == 0) return made;
    const py::gil_scoped_release free;
    const std::lock_guard lock(mutex_);
    kernels_.rearrange(queue_, wanted, array.buffer(), made.buffer());
    return made;
  }

 private:
  void check(const DeviceArray& array, Element wanted) const {
    check_device(array, device_, "the array");
    if (array.element() != wanted)
      throw py::type_error(std::string("the array must hold ") + to_string(wanted) + ", got " +
                           to_string(array.element()));
  }

  Device device_;
  Queue queue_;
  Element in_, out_;
  fft::on_device::Rearranger kernels_;
  std::mutex mutex_;
};

}  // namespace

void add_fft_on_devices(py::module_& module) {
  py::class_<DeviceRealPlan, Addressed>(module, "DeviceRealPlan")
      .def(py::init<const std::string&, bool, const std::vector<std::size_t>&, const std::vector<std::size_t>&,
                    const std::vector<int>&, double, bool, bool, const std::vector<double>&>(),
           py::arg("device"), py::arg("single"), py::arg("shape"), py::arg("axes"), py::arg("kinds"), py::arg("scale"),
           py::arg("in_place"), py::arg("adjoint"), py::arg("ends"))
      .def("run", &DeviceRealPlan::run)
      .def("enqueue", &DeviceRealPlan::enqueue);
  py::class_<Rearranger>(module, "Rearranger")
      .def(py::init<const std::string&, bool, bool, bool, bool>(), py::arg("device"), py::arg("single"),
           py::arg("complex_input"), py::arg("complex_output"), py::arg("conjugate"))
      .def("rearranged", &Rearranger::rearranged);
  py::class_<DevicePlan, Addressed>(module, "DevicePlan")
      .def(py::init<const std::string&, bool, const std::vector<std::size_t>&, std::size_t, bool, double, double, bool,
                    const std::string&, bool, bool, const std::vector<std::size_t>&, bool>(),
           py::arg("device"), py::arg("single"), py::arg("shape"), py::arg("batch"), py::arg("real"),
           py::arg("scale_forward"), py::arg("scale_inverse"), py::arg("measured"), py::arg("storage") = "",
           py::arg("only_inverse") = false, py::arg("adjoint") = false, py::arg("given") = std::vector<std::size_t>(),
           py::arg("both") = true)
      .def("run", &DevicePlan::run)
      .def("run_host", &DevicePlan::run_host)
      .def("enqueue", &DevicePlan::enqueue)
      .def("explain", &DevicePlan::explain)
      .def("trials", &DevicePlan::trials);
}

}  // namespace ridge::python
