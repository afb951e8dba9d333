#include "arrays.hpp"

#include <cstring>

namespace ridge::python {
namespace {

bool element_of(const char* format, Element& element) {
  if (format == nullptr) return false;
  if (*format == '@' || *format == '=' || *format == '<') ++format;  // little endian, as every machine we run on
  if (std::strcmp(format, "f") == 0) return element = Element::float32, true;
  if (std::strcmp(format, "d") == 0) return element = Element::float64, true;
  if (std::strcmp(format, "Zf") == 0) return element = Element::complex64, true;
  if (std::strcmp(format, "Zd") == 0) return element = Element::complex128, true;
  return false;
}

}  // namespace

Array::Array(pybind11::handle object, bool writable, const char* what) {
  const int flags = PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) {
    if (writable && PyErr_ExceptionMatches(PyExc_BufferError) != 0) {
      PyErr_Clear();
      throw pybind11::value_error(std::string(what) + " is read-only, or no array");
    }
    throw pybind11::error_already_set();
  }
  std::string wrong;
  if (!element_of(view_.format, element_) || view_.itemsize != static_cast<Py_ssize_t>(size_of(element_))) {
    wrong = std::string(what) + " holds elements of type \"" + (view_.format == nullptr ? "?" : view_.format) +
            "\": float32, float64, complex64 or complex128 are wanted";
  }
  bool strided = true;
  for (int axis = 0; axis < view_.ndim && wrong.empty(); ++axis) {
    strided = strided && view_.strides[axis] % static_cast<Py_ssize_t>(size_of(element_)) == 0;
  }
  if (wrong.empty() &&
      reinterpret_cast<std::uintptr_t>(view_.buf) % (size_of(element_) / (is_complex(element_) ? 2 : 1)) != 0) {
    strided = false;
  }
  if (!wrong.empty() || !strided) {
    PyBuffer_Release(&view_);
    if (!wrong.empty()) throw pybind11::type_error(wrong);
    throw pybind11::value_error(std::string(what) +
                                " has strides or an address that are no multiple of its elements: "
                                "copy it first");
  }
}

Array::~Array() { PyBuffer_Release(&view_); }

std::size_t Array::size() const {
  std::size_t product = 1;
  for (std::size_t axis = 0; axis < axes(); ++axis) product *= length(axis);
  return product;
}

}  // namespace ridge::python
