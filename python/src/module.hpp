// Functions that add each workload's bindings to the module.
#pragma once
#include <pybind11/pybind11.h>

#include "base/threads.hpp"

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

// Lets Python handle signals; throws if a handler raises an exception. Called without Python's lock.
inline void handle_signals() {
  const pybind11::gil_scoped_acquire held;
  if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
}

// While it exists, Ctrl-C ends computations of this thread between their tasks.
struct EndsBySignals : base::Interruptible {
  EndsBySignals() : Interruptible(handle_signals) {}
};

}  // namespace ridge::python
