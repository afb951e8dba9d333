// The extension module ridge._ridge; users import the Python package around it.
#include "module.hpp"

#include <ridge/error.hpp>

#include "base/instruction_sets.hpp"

namespace py = pybind11;

PYBIND11_MODULE(_ridge, module) {
  module.doc() = "Ridgeline's own part of the package ridge.";
  // Exceptions: wrong arguments become ValueError, lack of memory MemoryError, file errors OSError.
  py::register_exception_translator([](std::exception_ptr pointer) {
    try {
      if (pointer) std::rethrow_exception(pointer);
    } catch (const ridge::Error& error) {
      PyObject* type = PyExc_RuntimeError;
      if (error.kind() == ridge::ErrorKind::invalid_argument) type = PyExc_ValueError;
      if (error.kind() == ridge::ErrorKind::out_of_memory) type = PyExc_MemoryError;
      if (error.kind() == ridge::ErrorKind::io) type = PyExc_OSError;
      PyErr_SetString(type, error.what());
    }
  });
  try {
    ridge::base::require_built_instructions();
  } catch (const ridge::Error& error) {
    throw py::import_error(error.what());
  }
  ridge::python::add_devices(module);
  ridge::python::add_device_arrays(module);
  ridge::python::add_tensor_calls(module);
  ridge::python::add_fft(module);
  ridge::python::add_fft_quick(module);
  ridge::python::add_fft_on_devices(module);
  ridge::python::add_jax(module);
  ridge::python::add_jax_nufft(module);
  ridge::python::add_stencil(module);
  ridge::python::add_survey(module);
  ridge::python::add_filterbank(module);
  ridge::python::add_nufft(module);
  ridge::python::add_zoom(module);
  ridge::python::add_boxes(module);
  ridge::python::add_sar(module);
  ridge::python::add_search(module);
  ridge::python::add_image(module);
  ridge::python::add_planner(module);
}
