// Devices of this machine and its measured profile.
#include <optional>
#include <string>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <ridge/device.hpp>
#include <ridge/device_memory.hpp>
#include <ridge/machine.hpp>
#include <ridge/plan.hpp>

#include "module.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

py::dict describe(const Device& device) {
  const DeviceInfo& info = device.info();
  py::dict result;
  result["id"] = info.id;
  result["name"] = info.name;
  result["backend"] = to_string(info.backend);
  result["isa"] = info.isa;
  result["compute_units"] = info.limits.compute_units;
  result["memory"] = info.limits.memory;
  return result;
}

std::optional<std::string> profile_json() {
  const auto profile = machine::load();
  return profile ? std::optional(machine::to_json(*profile)) : std::nullopt;
}

std::string measure_json(double seconds) {
  machine::MeasureOptions options;
  options.seconds = seconds;
  const machine::Profile profile = machine::measure(options);
  machine::save(profile);
  return machine::to_json(profile);
}

std::string roofline_svg(const std::string& json, const std::string& id) {
  for (const machine::DeviceProfile& device : machine::from_json(json).devices) {
    if (device.id == id) return machine::to_svg(machine::roofline(device));
  }
  throw py::key_error("no device \"" + id + "\" in this profile");
}

}  // namespace

void add_devices(py::module_& module) {
  module.def("devices", [] {
    py::list list;
    for (const Device& device : ridge::devices().devices) list.append(describe(device));
    return list;
  });
  module.def("device_memory", [](const std::string& id) { return device_memory(ridge::device(id)); });
  module.def("set_device_memory", &set_device_memory);
  module.def("device_notes", [] { return ridge::devices().notes; });
  module.def("profile_json", &profile_json, py::call_guard<py::gil_scoped_release>());
  module.def("measure_json", &measure_json, py::arg("seconds"), py::call_guard<py::gil_scoped_release>());
  module.def("roofline_svg", &roofline_svg);
  module.def("wisdom", [] {
    py::list list;
    for (const wisdom::Entry& e : wisdom::all()) {
      list.append(py::make_tuple(e.workload, e.problem, e.device, e.winner, e.seconds));
    }
    return list;
  });
  module.def("pin_wisdom", &wisdom::pin);
  module.def("unpin_wisdom", &wisdom::unpin);
  module.def("forget_wisdom", &wisdom::forget, py::arg("workload") = "");
}

}  // namespace ridge::python
