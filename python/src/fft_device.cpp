// Transforms of arrays in a device's memory, over their last axes.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <ridge/fft.hpp>

#include "device_array.hpp"
#include "module.hpp"
#include "plans.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

class DevicePlan {
 public:
  DevicePlan(const std::string& device, bool single, const std::vector<std::size_t>& shape, std::size_t batch,
             bool real, double scale_forward, double scale_inverse, bool measured, const std::string& storage,
             bool only_inverse)
      : DevicePlan(ridge::device(device), single,
                   fft::Problem{.shape = shape,
                                .batch = batch,
                                .kind = real ? fft::Kind::real : fft::Kind::complex,
                                .scale_forward = scale_forward,
                                .scale_inverse = scale_inverse,
                                .storage = storage_named(storage),
                                .directions = storage.empty() ? fft::Directions::both
                                              : only_inverse  ? fft::Directions::inverse
                                                              : fft::Directions::forward},
                   measured) {}

  void run(const DeviceArray& in, const DeviceArray& out, bool inverse) {
    const Device& device = std::visit([](const auto& plan) -> const Device& { return plan.device(); }, *plan_);
    check_device(in, device, "the input");
    check_device(out, device, "the output");
    check(inverse ? out : in, true, inverse ? "the output" : "the input");
    check(inverse ? in : out, false, inverse ? "the input" : "the output");
    const py::gil_scoped_release free;
    const std::lock_guard lock(mutex_);
    if (device.is_host()) return run_halves(in, out, inverse);
    std::visit(
        [&](const auto& plan) {
          inverse ? plan.enqueue_inverse(queue_, in.buffer(), out.buffer())
                  : plan.enqueue_forward(queue_, in.buffer(), out.buffer());
        },
        *plan_);
    queue_.finish();
  }

  std::string explain() const {
    return std::visit([](const auto& plan) { return plan.explain(); }, *plan_);
  }
  py::list trials() const {
    return std::visit([](const auto& plan) { return trials_of(plan.decisions()); }, *plan_);
  }

 private:
  DevicePlan(const Device& device, bool single, const fft::Problem& problem, bool measured) : queue_(device.queue()) {
    const py::gil_scoped_release free;
    if (single) {
      plan_ = std::make_unique<Any>(fft::Plan<float>(device, problem, options_of(measured)));
    } else {
      plan_ = std::make_unique<Any>(fft::Plan<double>(device, problem, options_of(measured)));
    }
  }

  // Samples are what a forward transform reads; real ones of a real plan.
  void check(const DeviceArray& array, bool samples, const char* what) const {
    const bool single = std::holds_alternative<fft::Plan<float>>(*plan_);
    const auto sizes = std::visit(
        [](const auto& plan) {
          return std::tuple(plan.input_size(), plan.output_size(), plan.problem().kind == fft::Kind::real);
        },
        *plan_);
    const auto& [input, output, real] = sizes;
    const bool halves =
        std::visit([](const auto& plan) { return plan.problem().storage != fft::Storage::same; }, *plan_);
    if (halves && (array.element() == Element::uint16 || array.element() == Element::float16)) return;
    const Element wanted = halves            ? Element::float16
                           : samples && real ? (single ? Element::float32 : Element::float64)
                                             : (single ? Element::complex64 : Element::complex128);
    if (array.element() != wanted) {
      throw py::type_error(std::string(what) + " holds " + to_string(array.element()) + ": " + to_string(wanted) +
                           " is wanted");
    }
    if (array.size() != (samples ? input : output))
      throw py::value_error(std::string(what) + " has another size than the plan's");
  }

  static fft::Storage storage_named(const std::string& name) {
    return name == "float16" ? fft::Storage::float16 : name == "bfloat16" ? fft::Storage::bfloat16 : fft::Storage::same;
  }

  // The one thing that comes here on the host.
  void run_halves(const DeviceArray& in, const DeviceArray& out, bool inverse) const {
    const auto& plan = std::get<fft::Plan<float>>(*plan_);
    const std::span from(reinterpret_cast<const std::uint16_t*>(in.address()), in.size());  // NOLINT: an address
    const std::span to(reinterpret_cast<std::uint16_t*>(out.address()), out.size());        // NOLINT: an address
    inverse ? plan.inverse(from, to) : plan.forward(from, to);
  }

  using Any = std::variant<fft::Plan<float>, fft::Plan<double>>;
  std::unique_ptr<Any> plan_;
  Queue queue_;
  std::mutex mutex_;
};

}  // namespace

void add_fft_on_devices(py::module_& module) {
  py::class_<DevicePlan>(module, "DevicePlan")
      .def(py::init<const std::string&, bool, const std::vector<std::size_t>&, std::size_t, bool, double, double, bool,
                    const std::string&, bool>(),
           py::arg("device"), py::arg("single"), py::arg("shape"), py::arg("batch"), py::arg("real"),
           py::arg("scale_forward"), py::arg("scale_inverse"), py::arg("measured"), py::arg("storage") = "",
           py::arg("only_inverse") = false)
      .def("run", &DevicePlan::run)
      .def("explain", &DevicePlan::explain)
      .def("trials", &DevicePlan::trials);
}

}  // namespace ridge::python
