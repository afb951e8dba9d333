// Views of Python objects through the buffer protocol.
#include "arrays.hpp"

#include <algorithm>
#include <cstring>

namespace ridge::python {
namespace {

struct Known {
  Element element;
  std::size_t bytes, alignment;
  const char* name;
  const char* format;
};
constexpr Known kKnown[] = {
    {Element::float32, 4, 4, "float32", "f"},      {Element::float64, 8, 8, "float64", "d"},
    {Element::complex64, 8, 4, "complex64", "Zf"}, {Element::complex128, 16, 8, "complex128", "Zd"},
    {Element::uint8, 1, 1, "uint8", "B"},          {Element::uint16, 2, 2, "uint16", "H"},
    {Element::uint32, 4, 4, "uint32", "I"},        {Element::int32, 4, 4, "int32", "i"},
    {Element::float16, 2, 2, "float16", "e"},
};

const Known& known(Element element) { return kKnown[static_cast<std::size_t>(element)]; }

bool element_of(const char* format, Element& element) {
  if (format == nullptr) return false;
  if (*format == '@' || *format == '=' || *format == '<') ++format;  // little endian, as every supported machine
  for (const Known& one : kKnown) {
    if (std::strcmp(format, one.format) == 0) return element = one.element, true;
  }
  return false;
}

std::string names_of(const Elements& wanted) {
  std::string text;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    text += (i == 0 ? "" : i + 1 == wanted.size() ? " or " : ", ") + std::string(to_string(wanted[i]));
  }
  return text;
}

}  // namespace

std::size_t size_of(Element element) { return known(element).bytes; }
const char* to_string(Element element) { return known(element).name; }
bool element_named(const std::string& name, Element& element) {
  for (const Known& one : kKnown) {
    if (name == one.name) return element = one.element, true;
  }
  return false;
}

Array::Array(pybind11::handle object, bool writable, const char* what, const Elements& wanted) {
  const int flags = PyBUF_STRIDES | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
  if (PyObject_GetBuffer(object.ptr(), &view_, flags) != 0) {
    if (writable && (PyErr_ExceptionMatches(PyExc_BufferError) != 0 || PyErr_ExceptionMatches(PyExc_ValueError) != 0)) {
      PyErr_Clear();
      throw pybind11::value_error(std::string(what) + " must be a writable array: it is read-only or not an array");
    }
    if (PyErr_ExceptionMatches(PyExc_TypeError) != 0) {
      PyErr_Clear();
      throw pybind11::type_error(std::string(what) + " must be an array, not " + Py_TYPE(object.ptr())->tp_name);
    }
    throw pybind11::error_already_set();
  }
  std::string wrong;
  const bool is_known = element_of(view_.format, element_);
  if (!is_known || view_.itemsize != static_cast<Py_ssize_t>(size_of(element_)) ||
      std::find(wanted.begin(), wanted.end(), element_) == wanted.end()) {
    const std::string found = is_known ? to_string(element_) : view_.format == nullptr ? "?" : view_.format;
    wrong = std::string(what) + " must hold " + names_of(wanted) + ", got elements of type \"" + found + "\"";
  }
  bool strided = true;
  for (int axis = 0; axis < view_.ndim && wrong.empty(); ++axis) {
    strided = strided && view_.strides[axis] % static_cast<Py_ssize_t>(size_of(element_)) == 0;
  }
  if (wrong.empty() && reinterpret_cast<std::uintptr_t>(view_.buf) % known(element_).alignment != 0) strided = false;
  if (!wrong.empty() || !strided) {
    PyBuffer_Release(&view_);
    if (!wrong.empty()) throw pybind11::type_error(wrong);
    throw pybind11::value_error(std::string(what) +
                                " has strides or an address that are not multiples of its element size: "
                                "copy it first");
  }
}

Array::~Array() { PyBuffer_Release(&view_); }

std::size_t Array::size() const {
  std::size_t product = 1;
  for (std::size_t axis = 0; axis < axes(); ++axis) product *= length(axis);
  return product;
}

std::vector<std::size_t> Array::shape() const {
  std::vector<std::size_t> result(axes());
  for (std::size_t axis = 0; axis < axes(); ++axis) result[axis] = length(axis);
  return result;
}

std::pair<const std::byte*, const std::byte*> Array::extent() const {
  if (size() == 0) return {data_bytes(), data_bytes()};
  std::pair<const std::byte*, const std::byte*> ends{data_bytes(), data_bytes() + size_of(element_)};
  for (std::size_t axis = 0; axis < axes(); ++axis) {
    const std::ptrdiff_t reach = static_cast<std::ptrdiff_t>(length(axis) - 1) * view_.strides[axis];
    (reach < 0 ? ends.first : ends.second) += reach;
  }
  return ends;
}

void* Array::packed(const char* what) const {
  std::ptrdiff_t wanted = 1;
  for (std::size_t axis = axes(); axis-- > 0;) {
    if (length(axis) > 1 && stride(axis) != wanted) {
      throw pybind11::value_error(std::string(what) + " must be contiguous: pass numpy.ascontiguousarray() of it");
    }
    wanted *= static_cast<std::ptrdiff_t>(length(axis));
  }
  return data();
}

}  // namespace ridge::python
