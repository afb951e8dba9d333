// Arrays in device memory: allocation, copies, and exchange with other libraries by DLPack.
#include "device_array.hpp"

#include <cstring>
#include <limits>
#include <memory>
#include <type_traits>

#include <pybind11/stl.h>
#include <ridge/foreign.hpp>

#include "dlpack.hpp"
#include "module.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

Element element_of(const std::string& name) {
  Element element{};
  if (!element_named(name, element)) throw py::type_error("device arrays of type " + name + " are not supported");
  return element;
}

std::size_t checked_size(const std::vector<std::size_t>& shape, Element element) {
  std::size_t product = size_of(element);
  for (const std::size_t n : shape) {
    if (__builtin_mul_overflow(product, n, &product) || product > std::size_t{1} << 50) {
      throw py::value_error("the array exceeds the address space");
    }
  }
  return product / size_of(element);
}

// Python objects may be released in any thread.
std::shared_ptr<void> kept(py::object object) {
  return {new py::object(std::move(object)), [](void* pointer) {
            const py::gil_scoped_acquire lock;
            delete static_cast<py::object*>(pointer);
          }};
}

Element element_of(const dlpack::DataType& type) {
  const int key = type.lanes == 1 ? type.code * 1000 + type.bits : -1;
  switch (key) {
    case dlpack::kFloat * 1000 + 16:
      return Element::float16;
    case dlpack::kFloat * 1000 + 32:
      return Element::float32;
    case dlpack::kFloat * 1000 + 64:
      return Element::float64;
    case dlpack::kComplex * 1000 + 64:
      return Element::complex64;
    case dlpack::kComplex * 1000 + 128:
      return Element::complex128;
    case dlpack::kUnsigned * 1000 + 8:
      return Element::uint8;
    case dlpack::kUnsigned * 1000 + 16:
      return Element::uint16;
    case dlpack::kUnsigned * 1000 + 32:
      return Element::uint32;
    case dlpack::kInt * 1000 + 32:
      return Element::int32;
    default:
      throw py::type_error("a DLPack tensor of type code " + std::to_string(type.code) + ", " +
                           std::to_string(type.bits) +
                           " bits; needs float16, float32, float64, complex64, complex128, uint8, uint16, "
                           "uint32 or int32");
  }
}

dlpack::DataType type_of(Element element) {
  const auto bits = static_cast<std::uint8_t>(8 * size_of(element));
  switch (element) {
    case Element::float16:
    case Element::float32:
    case Element::float64:
      return {dlpack::kFloat, bits, 1};
    case Element::complex64:
    case Element::complex128:
      return {dlpack::kComplex, bits, 1};
    case Element::int32:
      return {dlpack::kInt, bits, 1};
    default:
      return {dlpack::kUnsigned, bits, 1};
  }
}

Device device_of(const dlpack::DeviceId& id) {
  switch (id.type) {
    case dlpack::kCpu:
      return ridge::host();
    case dlpack::kCuda:
      return ridge::device("cuda:" + std::to_string(id.number));
    default:
      throw py::value_error("a DLPack tensor on a device of type " + std::to_string(id.type) +
                            "; needs the host (1) or CUDA (2)");
  }
}

constexpr const char* kOldName = "dltensor";
constexpr const char* kVersionedName = "dltensor_versioned";

// An exported tensor and the memory it refers to. M is dlpack::Managed or dlpack::ManagedVersioned.
template <class M>
struct Given {
  M managed{};
  std::vector<std::int64_t> shape;
  Buffer buffer;
};

template <class M>
void unused_capsule(PyObject* capsule) {
  const char* const name = std::is_same_v<M, dlpack::Managed> ? kOldName : kVersionedName;
  if (PyCapsule_IsValid(capsule, name) == 0) return;  // consumed: the consumer calls the deleter
  auto* const managed = static_cast<M*>(PyCapsule_GetPointer(capsule, name));
  managed->deleter(managed);
}

template <class M>
py::capsule capsule_of(std::unique_ptr<Given<M>> given, const char* name) {
  given->managed.manager = given.get();
  given->managed.deleter = [](M* managed) { delete static_cast<Given<M>*>(managed->manager); };
  PyObject* const capsule = PyCapsule_New(&given->managed, name, &unused_capsule<M>);
  if (capsule == nullptr) throw py::error_already_set();
  given.release();
  return py::reinterpret_steal<py::capsule>(capsule);
}

template <class M>
std::shared_ptr<void> owner_of(M* managed) {
  return {managed, [](void* pointer) {
            auto* const taken = static_cast<M*>(pointer);
            const py::gil_scoped_acquire lock;
            if (taken->deleter != nullptr) taken->deleter(taken);
          }};
}

// Waits for another library's stream, so that any thread may use its memory afterwards.
void wait_for_stream(const std::string& device, std::uintptr_t stream) {
  queue_over(ridge::device(device), stream).finish();
}

}  // namespace

DeviceArray::DeviceArray(const Device& device, Element element, std::vector<std::size_t> shape)
    : device_(device), element_(element), shape_(std::move(shape)) {
  const std::size_t size = checked_size(shape_, element_);
  if (size != 0) buffer_ = device_.buffer(size * size_of(element_), {.name = "array"});
}

DeviceArray::DeviceArray(const Device& device, Element element, std::vector<std::size_t> shape, std::uintptr_t address,
                         py::object owner)
    : device_(device), element_(element), shape_(std::move(shape)) {
  const std::size_t size = checked_size(shape_, element_);
  if (size != 0) buffer_ = buffer_over(device_, address, size * size_of(element_), kept(std::move(owner)));
}

DeviceArray DeviceArray::from_dlpack(const py::capsule& capsule) {
  const bool versioned = PyCapsule_IsValid(capsule.ptr(), kVersionedName) != 0;
  if (!versioned && PyCapsule_IsValid(capsule.ptr(), kOldName) == 0) {
    throw py::value_error("needs an unused DLPack capsule; this is none, or it has been consumed");
  }
  void* const content = PyCapsule_GetPointer(capsule.ptr(), versioned ? kVersionedName : kOldName);
  auto* const newer = static_cast<dlpack::ManagedVersioned*>(content);
  auto* const older = static_cast<dlpack::Managed*>(content);
  if (versioned && newer->version.major != 1) {
    throw py::value_error("a DLPack tensor of version " + std::to_string(newer->version.major) + "; needs version 1");
  }
  const dlpack::Tensor& tensor = versioned ? newer->tensor : older->tensor;
  const Element element = element_of(tensor.type);
  const Device device = device_of(tensor.device);
  if (tensor.axes < 0 || tensor.axes > 64)
    throw py::value_error("a DLPack tensor of " + std::to_string(tensor.axes) + " axes");
  std::vector<std::size_t> shape;
  for (std::int32_t axis = 0; axis < tensor.axes; ++axis) {
    if (tensor.shape[axis] < 0) throw py::value_error("a DLPack tensor with a negative length");
    shape.push_back(static_cast<std::size_t>(tensor.shape[axis]));
  }
  const std::size_t size = checked_size(shape, element);
  std::int64_t wanted = 1;
  for (std::int32_t axis = tensor.axes; tensor.strides != nullptr && size != 0 && axis-- > 0;) {
    if (tensor.shape[axis] > 1 && tensor.strides[axis] != wanted) {
      throw py::value_error("the array must be contiguous: pass a contiguous copy");
    }
    wanted *= tensor.shape[axis];
  }
  DeviceArray made(device, element, {0});
  made.shape_ = shape;
  made.read_only_ = versioned && (newer->flags & dlpack::kReadOnly) != 0;
  const std::shared_ptr<void> owner = versioned ? owner_of(newer) : owner_of(older);
  // From here on this module must call the deleter.
  PyCapsule_SetName(capsule.ptr(), versioned ? "used_dltensor_versioned" : "used_dltensor");
  if (size != 0) {
    made.buffer_ = buffer_over(device, reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.offset,
                               size * size_of(element), owner);
  }
  return made;
}

DeviceArray DeviceArray::viewed(const std::string& type, std::vector<std::size_t> shape) const {
  DeviceArray seen(device_, element_of(type), {0});
  if (checked_size(shape, seen.element_) * size_of(seen.element_) != bytes()) {
    throw py::value_error("the view has another size than the array");
  }
  seen.shape_ = std::move(shape);
  seen.buffer_ = buffer_;
  seen.read_only_ = read_only_;
  return seen;
}

std::size_t DeviceArray::size() const {
  std::size_t product = 1;
  for (const std::size_t n : shape_) product *= n;
  return product;
}

void DeviceArray::upload(const py::object& from) {
  if (read_only_) throw py::value_error("the array is read-only: its owner exported it without write access");
  const Array array(from, false, "the array", {element_});
  if (array.shape() != shape_) throw py::value_error("the source and the destination must have the same shape");
  const void* const data = array.packed("the array");
  if (size() == 0) return;
  const py::gil_scoped_release free;
  Queue queue = device_.queue();
  queue.upload(data, buffer_, bytes());
  queue.finish();
}

void DeviceArray::download(const py::object& to) const {
  const Array array(to, true, "the output", {element_});
  if (array.shape() != shape_) throw py::value_error("the output must have the shape of the array");
  void* const data = array.packed("the output");
  if (size() == 0) return;
  const py::gil_scoped_release free;
  Queue queue = device_.queue();
  queue.download(buffer_, data, bytes());
  queue.finish();
}

std::pair<int, int> DeviceArray::dlpack_device() const {
  switch (device_.info().backend) {
    case Backend::host:
      return {dlpack::kCpu, 0};
    case Backend::cuda:
      return {dlpack::kCuda, std::stoi(device_.id().substr(5))};
    case Backend::opencl:
      break;
  }
  return {dlpack::kOpenCl, std::stoi(device_.id().substr(7))};
}

py::capsule DeviceArray::to_dlpack(bool versioned, bool copied) const {
  const auto [type, number] = dlpack_device();
  const dlpack::Tensor tensor{.data = reinterpret_cast<void*>(address()),  // NOLINT: an address
                              .device = {type, number},
                              .axes = static_cast<std::int32_t>(shape_.size()),
                              .type = type_of(element_),
                              .shape = nullptr,
                              .strides = nullptr,
                              .offset = 0};
  const auto fill = [&](auto& given) {
    given.shape.assign(shape_.begin(), shape_.end());
    given.buffer = buffer_;
    given.managed.tensor = tensor;
    given.managed.tensor.shape = given.shape.data();
  };
  if (!versioned) {
    if (read_only_) throw py::buffer_error("the array is read-only, which DLPack before version 1 cannot express");
    auto given = std::make_unique<Given<dlpack::Managed>>();
    fill(*given);
    return capsule_of(std::move(given), kOldName);
  }
  auto given = std::make_unique<Given<dlpack::ManagedVersioned>>();
  fill(*given);
  given->managed.version = {1, 0};
  given->managed.flags = (read_only_ ? dlpack::kReadOnly : 0U) | (copied ? dlpack::kIsCopied : 0U);
  return capsule_of(std::move(given), kVersionedName);
}

void check_device(const DeviceArray& array, const Device& device, const char* what) {
  if (array.device().id() != device.id()) {
    throw py::value_error(std::string(what) + " is on " + array.device().id() + ", the plan is for " + device.id());
  }
}

void add_device_arrays(py::module_& module) {
  py::class_<DeviceArray>(module, "DeviceArray")
      .def(py::init([](const std::string& device, const std::string& type, const std::vector<std::size_t>& shape) {
        return DeviceArray(ridge::device(device), element_of(type), shape);
      }))
      .def(py::init([](const std::string& device, const std::string& type, const std::vector<std::size_t>& shape,
                       std::uintptr_t address, const py::object& owner) {
        return DeviceArray(ridge::device(device), element_of(type), shape, address, owner);
      }))
      .def_static("from_dlpack", &DeviceArray::from_dlpack)
      .def("viewed", &DeviceArray::viewed)
      .def("upload", &DeviceArray::upload)
      .def("download", &DeviceArray::download)
      .def("to_dlpack", &DeviceArray::to_dlpack, py::arg("versioned") = false, py::arg("copied") = false)
      .def("read_only", &DeviceArray::read_only)
      .def("dlpack_device", &DeviceArray::dlpack_device)
      .def("address", &DeviceArray::address)
      .def("device", [](const DeviceArray& array) { return array.device().id(); })
      .def("dtype", [](const DeviceArray& array) { return to_string(array.element()); })
      .def("shape", [](const DeviceArray& array) { return py::tuple(py::cast(array.shape())); });
  module.def("wait_for_stream", &wait_for_stream, py::call_guard<py::gil_scoped_release>());
}

}  // namespace ridge::python
