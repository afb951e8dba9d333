// Functions that add each workload's bindings to the module.
#pragma once
#include <pybind11/pybind11.h>

namespace ridge::python {

void add_devices(pybind11::module_& module);
void add_device_arrays(pybind11::module_& module);
void add_fft(pybind11::module_& module);
void add_fft_quick(pybind11::module_& module);
void forget_quick_plans();
void add_fft_on_devices(pybind11::module_& module);
void add_jax(pybind11::module_& module);
void add_jax_nufft(pybind11::module_& module);
void add_stencil(pybind11::module_& module);
void add_survey(pybind11::module_& module);
void add_filterbank(pybind11::module_& module);
void add_nufft(pybind11::module_& module);
void add_zoom(pybind11::module_& module);
void add_boxes(pybind11::module_& module);
void add_sar(pybind11::module_& module);
void add_search(pybind11::module_& module);
void add_tensor_calls(pybind11::module_& module);
void add_image(pybind11::module_& module);
void add_planner(pybind11::module_& module);

}  // namespace ridge::python
