// Repeated calls of a library whose tensors have DLPack's C exchange table (PyTorch 2.10 and later): the tensor's
// layout and the current stream are read, and the prepared call is found, without Python.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include <pybind11/pybind11.h>
#include <pybind11/stl.h>
#include <ridge/error.hpp>

#include "addressed.hpp"
#include "dlpack.hpp"
#include "module.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace tensor_calls {
namespace {

constexpr std::size_t kMostAxes = 6, kMostArguments = 6, kMostCalls = 512;

// Everything that decides the plan and the result of a call.
struct Key {
  std::array<std::int64_t, kMostArguments> arguments{};  // name, lengths, axes, norm, ...
  std::uintptr_t stream = 0;
  dlpack::DeviceId device{};
  dlpack::DataType type{};
  std::int32_t axes = 0, count = 0, unused = 0;
  std::array<std::int64_t, kMostAxes> shape{}, strides{};
  bool operator==(const Key& other) const { return std::memcmp(this, &other, sizeof *this) == 0; }
};
static_assert(std::has_unique_object_representations_v<Key>);

struct Hash {
  std::size_t operator()(const Key& key) const {
    std::size_t sum = key.stream + static_cast<std::size_t>(key.type.code) * 256 + key.type.bits;
    const auto add = [&](std::int64_t value) {
      sum = (sum ^ (sum >> 29)) * 0x9e3779b97f4a7c15U + static_cast<std::size_t>(value);
    };
    for (std::int32_t i = 0; i < key.count; ++i) add(key.arguments[static_cast<std::size_t>(i)]);
    for (std::int32_t i = 0; i < key.axes; ++i) add(key.shape[static_cast<std::size_t>(i)]);
    return sum ^ (sum >> 32);
  }
};

// A prepared call.
struct Call {
  py::object prepared;  // of the library, with the attributes plan, inverse and like
  py::object plan;      // owns `addressed`
  Addressed* addressed = nullptr;
  bool inverse = false;
  py::object like;  // a tensor of the layout of the result, without memory of its own
};

struct Remembered {
  Call call;
  std::vector<py::object> kept;  // arguments that the key knows by their address
};

// Tensors that repeated calls are looked up for, with and without a gradient, and all others.
enum class Tensor { unsupported, plain, gradient };

// An argument as a number of the key: integers by value; None, True, False, tuples and interned text by address.
bool encode(PyObject* object, std::int64_t& code) {
  if (PyLong_CheckExact(object) != 0) {
    int too_large = 0;
    const long long value = PyLong_AsLongLongAndOverflow(object, &too_large);
    code = static_cast<std::int64_t>(value) * 2;
    return too_large == 0 && value > -(1LL << 40) && value < (1LL << 40);
  }
  code = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(object)) | 1;  // objects begin at even addresses
  return object == Py_None || object == Py_True || object == Py_False || PyTuple_CheckExact(object) != 0 ||
         (PyUnicode_CheckExact(object) != 0 && PyUnicode_CHECK_INTERNED(object) != 0);
}

class TensorCalls {
 public:
  TensorCalls(const py::capsule& table, const std::vector<py::type>& types, py::object empty_like, py::object inside,
              py::object forward_mode, py::object grad_enabled)
      : empty_like_(std::move(empty_like)),
        inside_(std::move(inside)),
        forward_mode_(std::move(forward_mode)),
        grad_enabled_(std::move(grad_enabled)),
        kept_{table} {
    table_ = static_cast<const dlpack::Exchange*>(table.get_pointer());
    if (table.name() == nullptr || std::strcmp(table.name(), "dlpack_exchange_api") != 0)
      throw py::value_error("needs the capsule of DLPack's C exchange table");
    if (table_->version.major != 1 || table_->describe == nullptr || table_->current_stream == nullptr)
      throw py::value_error("the exchange table lacks a function, or is of another version");
    for (const py::type& type : types) types_.push_back(kept_.emplace_back(type).ptr());
  }

  // The transform of x, or null without an error if there is no prepared call, or if x has to be treated by Python.
  PyObject* call(PyObject* const* given, std::size_t count) {
    Key key;
    dlpack::Tensor from{};
    if (count < 2) return nullptr;
    const Tensor kind = kind_of(given[1]);
    if (kind == Tensor::unsupported || !describe(key, from, given, count)) return nullptr;
    const auto found = calls_.find(key);
    if (found == calls_.end()) return nullptr;
    const Call call = found->second.call;  // other threads may forget it
    if (kind == Tensor::plain) return run(call, from, key.stream);
    std::array<PyObject*, 2> arguments{given[1], call.prepared.ptr()};
    PyObject* const out = PyObject_Vectorcall(differentiable_.ptr(), arguments.data(), arguments.size(), nullptr);
    if (out == nullptr) throw py::error_already_set();
    return out;
  }

  // The forward pass of the differentiable function: what `prepared` gives for x.
  PyObject* forward(PyObject* x, PyObject* prepared) const {
    dlpack::Tensor from{};
    if (table_->describe(x, &from) != 0) throw py::error_already_set();
    return run(call_of(py::reinterpret_borrow<py::object>(prepared)), from, stream_of(from));
  }

  // The function of a tensor and a prepared call that gives tensors with gradients.
  void set_differentiable(py::object function) { differentiable_ = std::move(function); }

  // Remembers a call: x and the other arguments of call(), and what performs it. Does nothing if such a call cannot be
  // found again.
  void add(const py::object& prepared, const py::args& given) {
    std::vector<PyObject*> arguments;
    for (const py::handle one : given) arguments.push_back(one.ptr());
    Key key;
    dlpack::Tensor x{};
    if (arguments.size() < 2 || kind_of(arguments[1]) == Tensor::unsupported ||
        !describe(key, x, arguments.data(), arguments.size()))
      return;
    Remembered remembered{call_of(prepared), {}};
    for (const py::handle one : given) {
      if (one.ptr() != arguments[1]) remembered.kept.push_back(py::reinterpret_borrow<py::object>(one));
    }
    if (calls_.size() >= kMostCalls) calls_.clear();
    calls_.insert_or_assign(key, std::move(remembered));
  }

  std::size_t size() const { return calls_.size(); }
  void clear() { calls_.clear(); }

 private:
  static std::uintptr_t address(const dlpack::Tensor& tensor) {
    return reinterpret_cast<std::uintptr_t>(tensor.data) + tensor.offset;
  }

  static Call call_of(const py::object& prepared) {
    Call call;
    call.prepared = prepared;
    call.plan = prepared.attr("plan");
    call.addressed = &call.plan.cast<Addressed&>();
    call.inverse = prepared.attr("inverse").cast<bool>();
    call.like = prepared.attr("like");
    return call;
  }

  PyObject* run(const Call& call, const dlpack::Tensor& from, std::uintptr_t stream) const {
    dlpack::Tensor to{};
    auto out = py::reinterpret_steal<py::object>(PyObject_CallOneArg(empty_like_.ptr(), call.like.ptr()));
    if (!out || table_->describe(out.ptr(), &to) != 0) throw py::error_already_set();
    call.addressed->transform(address(from), address(to), call.inverse, stream);
    return out.release().ptr();
  }

  // Plain tensors outside transformations of functions, without pending conjugation, and whether they need a gradient.
  Tensor kind_of(PyObject* x) const {
    if (std::find(types_.begin(), types_.end(), reinterpret_cast<PyObject*>(Py_TYPE(x))) == types_.end())
      return Tensor::unsupported;
    if (!inside_.is_none()) {
      const auto transformation = py::reinterpret_steal<py::object>(PyObject_CallNoArgs(inside_.ptr()));
      if (!transformation || !transformation.is_none()) return PyErr_Clear(), Tensor::unsupported;
    }
    const auto level = py::reinterpret_steal<py::object>(PyObject_GetAttr(forward_mode_.ptr(), level_.ptr()));
    if (!level || PyLong_AsLong(level.ptr()) >= 0) return PyErr_Clear(), Tensor::unsupported;
    if (truth(PyObject_CallMethodNoArgs(x, is_conj_.ptr())) || truth(PyObject_CallMethodNoArgs(x, is_neg_.ptr())))
      return Tensor::unsupported;
    if (!truth(PyObject_GetAttr(x, requires_grad_.ptr())) || !truth(PyObject_CallNoArgs(grad_enabled_.ptr())))
      return Tensor::plain;
    return differentiable_.is_none() ? Tensor::unsupported : Tensor::gradient;
  }

  static bool clear_error() { return PyErr_Clear(), false; }
  // True also for an error: Python then treats the tensor.
  static bool truth(PyObject* given) {
    const auto value = py::reinterpret_steal<py::object>(given);
    if (!value) PyErr_Clear();
    return !value || value.ptr() != Py_False;
  }

  // The key of a call, and x as the table describes it.
  bool describe(Key& key, dlpack::Tensor& tensor, PyObject* const* given, std::size_t count) const {
    if (count > kMostArguments + 1) return false;
    for (std::size_t i = 0; i < count; ++i) {
      if (i == 1) continue;
      if (!encode(given[i], key.arguments[static_cast<std::size_t>(key.count++)])) return false;
    }
    if (table_->describe(given[1], &tensor) != 0) return clear_error();
    if (tensor.axes < 1 || tensor.axes > static_cast<std::int32_t>(kMostAxes)) return false;
    key.device = tensor.device;
    key.type = tensor.type;
    key.axes = tensor.axes;
    std::int64_t packed = 1;
    for (auto i = static_cast<std::size_t>(tensor.axes); i-- > 0;) {
      key.shape[i] = tensor.shape[i];
      key.strides[i] = tensor.strides != nullptr ? tensor.strides[i] : packed;
      packed *= tensor.shape[i];
    }
    try {
      key.stream = stream_of(tensor);
    } catch (const py::error_already_set&) {
      return false;
    }
    return true;
  }

  std::uintptr_t stream_of(const dlpack::Tensor& tensor) const {
    if (tensor.device.type == dlpack::kCpu) return 0;
    void* stream = nullptr;
    if (table_->current_stream(tensor.device.type, tensor.device.number, &stream) != 0) throw py::error_already_set();
    return reinterpret_cast<std::uintptr_t>(stream);
  }

  const dlpack::Exchange* table_ = nullptr;
  std::vector<PyObject*> types_;
  py::object empty_like_, inside_, forward_mode_, grad_enabled_, differentiable_ = py::none();
  std::vector<py::object> kept_;
  py::str level_{"_current_level"}, requires_grad_{"requires_grad"}, is_conj_{"is_conj"}, is_neg_{"is_neg"};
  std::unordered_map<Key, Remembered, Hash> calls_;
};

constexpr const char* kName = "ridge.TensorCalls";

TensorCalls& calls_of(PyObject* self) { return *static_cast<TensorCalls*>(PyCapsule_GetPointer(self, kName)); }

PyObject* call_of(PyObject* self, PyObject* const* given, Py_ssize_t count) {
  try {
    PyObject* const out = calls_of(self).call(given, static_cast<std::size_t>(count));
    if (out != nullptr) return out;
    Py_RETURN_NONE;
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const ridge::Error&) {
    Py_RETURN_NONE;  // the path in Python raises the error with its own type
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

PyObject* forward_of(PyObject* self, PyObject* const* given, Py_ssize_t count) {
  if (count != 3) return PyErr_SetString(PyExc_TypeError, "forward() needs a context, a tensor and a call"), nullptr;
  try {
    if (PyObject_SetAttrString(given[0], "call", given[2]) != 0) return nullptr;
    return calls_of(self).forward(given[1], given[2]);
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const ridge::Error&) {
    return PyObject_CallOneArg(given[2], given[1]);  // raises the error with its own type
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

PyMethodDef call_method{"call", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&call_of)), METH_FASTCALL,
                        "call(name, x, ...): the transform by a remembered call, or None."};
PyMethodDef forward_method{"forward", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&forward_of)),
                           METH_FASTCALL, "forward(context, x, call): the transform, remembered in the context."};

py::object function_of(TensorCalls& calls, PyMethodDef& method) {
  const py::capsule self(&calls, kName);
  return py::reinterpret_steal<py::object>(PyCFunction_New(&method, self.ptr()));
}

}  // namespace
}  // namespace tensor_calls

void add_tensor_calls(py::module_& module) {
  using namespace tensor_calls;  // NOLINT: this file's
  py::class_<Addressed>(module, "Addressed");
  py::class_<TensorCalls>(module, "TensorCalls")
      .def(py::init<const py::capsule&, const std::vector<py::type>&, py::object, py::object, py::object, py::object>(),
           py::arg("table"), py::arg("types"), py::arg("empty_like"), py::arg("inside"), py::arg("forward_mode"),
           py::arg("grad_enabled"))
      .def("add", &TensorCalls::add)
      .def("clear", &TensorCalls::clear)
      .def("__len__", &TensorCalls::size)
      .def("set_differentiable", &TensorCalls::set_differentiable)
      .def(
          "function", [](TensorCalls& calls) { return function_of(calls, call_method); }, py::keep_alive<0, 1>())
      .def(
          "forward", [](TensorCalls& calls) { return function_of(calls, forward_method); }, py::keep_alive<0, 1>());
}

}  // namespace ridge::python
