// Views of arrays through the buffer protocol: any strides, any library, no copies.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>

namespace ridge::python {

enum class Element { float32, float64, complex64, complex128, uint8, uint16, uint32, int32, float16 };

inline bool is_complex(Element e) { return e == Element::complex64 || e == Element::complex128; }
inline bool is_single(Element e) { return e == Element::float32 || e == Element::complex64; }
std::size_t size_of(Element element);
const char* to_string(Element element);                         // "float32"
bool element_named(const std::string& name, Element& element);  // false for an unknown name

// Element types that an argument may have.
using Elements = std::vector<Element>;
inline const Elements kFloating{Element::float32, Element::float64, Element::complex64, Element::complex128};

// Holds the buffer for its lifetime. Throws TypeError for other element types, ValueError for a read-only output or for
// strides that are not multiples of an element.
class Array {
 public:
  Array(pybind11::handle object, bool writable, const char* what, const Elements& wanted = kFloating);
  ~Array();
  Array(const Array&) = delete;
  Array& operator=(const Array&) = delete;

  Element element() const { return element_; }
  std::size_t axes() const { return static_cast<std::size_t>(view_.ndim); }
  std::size_t length(std::size_t axis) const { return static_cast<std::size_t>(view_.shape[axis]); }
  std::ptrdiff_t stride(std::size_t axis) const {
    return view_.strides[axis] / static_cast<std::ptrdiff_t>(size_of(element_));
  }
  std::size_t size() const;
  std::vector<std::size_t> shape() const;
  void* data() const { return view_.buf; }
  const std::byte* data_bytes() const { return static_cast<const std::byte*>(view_.buf); }
  std::pair<const std::byte*, const std::byte*> extent() const;  // from the first byte to one past the last
  // The elements as contiguous memory, last axis fastest; ValueError if they are not contiguous.
  void* packed(const char* what) const;
  template <class T>
  std::span<T> span(const char* what) const {
    return {static_cast<T*>(packed(what)), size()};
  }

 private:
  Py_buffer view_{};
  Element element_{};
};

}  // namespace ridge::python
