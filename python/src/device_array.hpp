// A packed array in device memory: allocated here, or another library's (DLPack, __cuda_array_interface__).
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <ridge/device.hpp>

#include "arrays.hpp"

namespace ridge::python {

class DeviceArray {
 public:
  DeviceArray(const Device& device, Element element, std::vector<std::size_t> shape);
  // Wraps another library's memory; `owner` is kept alive while this array, or a view of it, exists.
  DeviceArray(const Device& device, Element element, std::vector<std::size_t> shape, std::uintptr_t address,
              pybind11::object owner);
  static DeviceArray from_dlpack(const pybind11::capsule& capsule);

  const Device& device() const { return device_; }
  Element element() const { return element_; }
  const std::vector<std::size_t>& shape() const { return shape_; }
  std::size_t size() const;
  std::size_t bytes() const { return size() * size_of(element_); }
  const Buffer& buffer() const { return buffer_; }
  std::uintptr_t address() const { return size() == 0 ? 0 : buffer_.native(); }

  // A view of the same memory with another element type.
  DeviceArray viewed(const std::string& type, std::vector<std::size_t> shape) const;

  void upload(const pybind11::object& from);
  void download(const pybind11::object& to) const;
  // versioned: DLPack 1.0, with the read-only flag and `copied`; else the older structure, which has no flags.
  pybind11::capsule to_dlpack(bool versioned, bool copied) const;
  bool read_only() const { return read_only_; }
  std::pair<int, int> dlpack_device() const;

 private:
  Device device_;
  Element element_;
  std::vector<std::size_t> shape_;
  Buffer buffer_;           // empty if there are no elements
  bool read_only_ = false;  // another library's memory that must not be written
};

// Throws ValueError if the array is not on the plan's device.
void check_device(const DeviceArray& array, const Device& device, const char* what);

}  // namespace ridge::python
