#pragma once
#include <pybind11/pybind11.h>

namespace ridge::python {

void add_fft(pybind11::module_& module);
void add_devices(pybind11::module_& module);

}  // namespace ridge::python
