// The short path of one-dimensional transforms of NumPy arrays: arguments parsed without pybind11, plans of short
// transforms found by the array's layout. A call of 64 points spends most of its time outside the transform.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <ridge/error.hpp>
#include <ridge/fft/tensor.hpp>

#include "module.hpp"
#include "plans.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

using fft::TensorKind;

constexpr int kMostAxes = 4;
constexpr std::size_t kMostPoints = 4096;  // of plans in the table; longer ones stay in the limited cache of plans
constexpr std::size_t kEntries = 64;
enum Type : std::uint8_t { kFloat, kDouble, kComplexFloat, kComplexDouble, kTypes };

thread_local std::size_t default_workers = 1;  // of calls without `workers`, set by ridge.fft.set_workers

// Everything that decides the plan and the output of a call.
struct Key {
  std::uint8_t kind = 0, type = 0, axes = 0, axis = 0, norm = 0;
  std::array<std::ptrdiff_t, kMostAxes> shape{}, strides{};  // strides in elements
  bool operator==(const Key&) const = default;
  std::size_t hash() const {
    std::size_t sum = kind + 8U * type + 64U * axis + 256U * norm;
    for (std::size_t i = 0; i < axes; ++i) {
      sum = sum * 0x9e3779b97f4a7c15U + static_cast<std::size_t>(shape[i] * 31 + strides[i]);
    }
    return (sum ^ (sum >> 29)) % kEntries;
  }
};

struct Entry {
  Key key{};
  std::optional<fft::TensorPlan<float>> single{};
  std::optional<fft::TensorPlan<double>> twice{};
};

struct State {
  std::array<Entry, kEntries> entries{};
  std::array<PyObject*, kTypes> types{};  // NumPy's own descriptors: most arrays refer to these very objects
  std::array<PyObject*, 5> names{};       // n, axis, norm, overwrite_x, workers
  PyObject* plan = nullptr;
  std::array<PyObject*, 3> norms{};
};
State* state = nullptr;

// Values of a call in the order n, axis, norm, overwrite_x, workers; null means the default.
using Values = std::array<PyObject*, 5>;

bool same_text(PyObject* a, PyObject* b) { return a == b || (PyUnicode_Check(a) != 0 && PyUnicode_Compare(a, b) == 0); }

bool collect(PyObject* positional, PyObject* named, Values& values) {
  const Py_ssize_t count = PyTuple_GET_SIZE(positional);
  if (count > static_cast<Py_ssize_t>(values.size())) return false;
  for (Py_ssize_t i = 0; i < count; ++i) values[static_cast<std::size_t>(i)] = PyTuple_GET_ITEM(positional, i);
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(named, &at, &key, &value) != 0;) {
    std::size_t i = 0;
    while (i < values.size() && !same_text(key, state->names[i])) ++i;
    if (i == values.size()) {
      if (same_text(key, state->plan) && value == Py_None) continue;
      return false;
    }
    if (values[i] != nullptr) return false;  // given twice: the full path raises the error
    values[i] = value;
  }
  return true;
}

// Small integers only; false for other objects.
bool integer(PyObject* object, std::ptrdiff_t& value) {
  if (PyLong_CheckExact(object) == 0) return false;
  value = PyLong_AsSsize_t(object);
  if (value == -1 && PyErr_Occurred() != nullptr) return PyErr_Clear(), false;
  return true;
}

bool norm_of(PyObject* given, std::uint8_t& norm) {
  if (given == nullptr || given == Py_None) return true;
  for (std::uint8_t i = 0; i < 3; ++i) {
    if (same_text(given, state->norms[i])) return norm = i, true;
  }
  return false;
}

// Fills the key; false if the full path must handle the call.
bool describe(PyObject* x, int kind, const Values& values, Key& key) {
  const auto& array = *py::detail::array_proxy(x);
  const auto default_or_false = [&](std::size_t i, PyObject* neutral) {
    return values[i] == nullptr || values[i] == neutral;
  };
  if (array.nd < 1 || array.nd > kMostAxes || (array.flags & py::detail::npy_api::NPY_ARRAY_ALIGNED_) == 0 ||
      !default_or_false(3, Py_False) || !default_or_false(4, Py_None) || default_workers != 1 ||
      !norm_of(values[2], key.norm)) {
    return false;
  }
  key.kind = static_cast<std::uint8_t>(kind);
  key.axes = static_cast<std::uint8_t>(array.nd);
  while (key.type < kTypes && state->types[key.type] != array.descr) ++key.type;
  const bool complex = key.type == kComplexFloat || key.type == kComplexDouble;
  if (key.type == kTypes || (kind == 2 && complex) || (kind == 3 && !complex)) return false;
  if (kind < 2 && !complex && (array.flags & py::array::c_style) == 0) return false;
  constexpr std::array<std::ptrdiff_t, kTypes> kBytes{4, 8, 8, 16};
  for (int i = 0; i < array.nd; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (array.dimensions[i] == 0 || array.strides[i] % kBytes[key.type] != 0) return false;
    key.shape[at] = array.dimensions[i];
    key.strides[at] = array.strides[i] / kBytes[key.type];
  }
  std::ptrdiff_t axis = -1, n = 0;
  if (values[1] != nullptr && !integer(values[1], axis)) return false;
  if (axis < 0) axis += array.nd;
  if (axis < 0 || axis >= array.nd) return false;
  key.axis = static_cast<std::uint8_t>(axis);
  const std::ptrdiff_t length = key.shape[key.axis];
  if (kind == 3 && length < 2) return false;
  if (values[0] == nullptr || values[0] == Py_None) return true;
  return integer(values[0], n) && n == (kind == 3 ? 2 * (length - 1) : length);
}

// Shape of the result.
std::array<Py_ssize_t, kMostAxes> result_shape(const Key& key) {
  std::array<Py_ssize_t, kMostAxes> shape{};
  std::copy(key.shape.begin(), key.shape.end(), shape.begin());
  if (key.kind == 2) shape[key.axis] = shape[key.axis] / 2 + 1;
  if (key.kind == 3) shape[key.axis] = 2 * (shape[key.axis] - 1);
  return shape;
}

fft::TensorProblem problem_of(const Key& key) {
  const auto out = result_shape(key);
  const auto n = static_cast<std::size_t>(key.kind == 3 ? out[key.axis] : key.shape[key.axis]);
  const bool inverse = key.kind == 1 || key.kind == 3, widened = key.kind < 2 && key.type < kComplexFloat;
  const double whole = key.norm == 1                ? 1 / std::sqrt(static_cast<double>(n))
                       : (key.norm == 2) != inverse ? 1 / static_cast<double>(n)
                                                    : 1.0;
  fft::TensorProblem problem{.kind = static_cast<TensorKind>(key.kind), .in_place = widened, .scale = whole};
  std::ptrdiff_t stride = 1;
  for (std::size_t i = key.axes; i-- > 0;) {
    const fft::Dimension dimension{i == key.axis ? n : static_cast<std::size_t>(out[i]),
                                   widened ? stride : key.strides[i], stride};
    (i == key.axis ? problem.axes : problem.loops).push_back(dimension);
    stride *= out[i];
  }
  return problem;
}

// Copies real numbers into complex ones.
template <class T>
void widen(const T* from, std::complex<T>* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
}

template <class T>
void run_plan(const Key& key, std::optional<fft::TensorPlan<T>>& kept, Entry& entry, const void* in, void* out) {
  std::size_t points = 1;
  for (std::size_t i = 0; i < key.axes; ++i) points *= static_cast<std::size_t>(key.shape[i]);
  const bool widened = key.kind < 2 && key.type < kComplexFloat;
  if (points <= kMostPoints) {
    if (!kept || !(entry.key == key)) {
      fft::TensorPlan<T> made = fft::cached_tensor_plan<T>(problem_of(key), options_of(false));
      entry = Entry{.key = key};
      kept.emplace(std::move(made));
    }
    if (widened) widen(static_cast<const T*>(in), static_cast<std::complex<T>*>(out), points);
    return kept->run(widened ? out : in, out);
  }
  const fft::TensorPlan<T> plan = fft::cached_tensor_plan<T>(problem_of(key), options_of(false));
  const py::gil_scoped_release free;
  if (widened) widen(static_cast<const T*>(in), static_cast<std::complex<T>*>(out), points);
  plan.run(widened ? out : in, out);
}

// quick(kind, x, positional, named): the transform, or None if the full path must handle the call. Kinds: 0 fft,
// 1 ifft, 2 rfft, 3 irfft.
PyObject* quick(PyObject*, PyObject* const* given, Py_ssize_t count) {
  try {
    const auto& numpy = py::detail::npy_api::get();
    Key key;
    Values values{};
    std::ptrdiff_t kind = 0;
    if (count != 4 || Py_TYPE(given[1]) != numpy.PyArray_Type_ || !integer(given[0], kind) ||
        PyTuple_CheckExact(given[2]) == 0 || PyDict_CheckExact(given[3]) == 0 || !collect(given[2], given[3], values) ||
        !describe(given[1], static_cast<int>(kind), values, key)) {
      Py_RETURN_NONE;
    }
    const bool single = key.type == kFloat || key.type == kComplexFloat;
    PyObject* const type =
        state->types[key.kind == 3 ? (single ? kFloat : kDouble) : (single ? kComplexFloat : kComplexDouble)];
    Py_INCREF(type);  // the new array takes it over
    const auto shape = result_shape(key);
    const auto out = py::reinterpret_steal<py::object>(
        numpy.PyArray_NewFromDescr_(numpy.PyArray_Type_, type, key.axes, shape.data(), nullptr, nullptr, 0, nullptr));
    if (!out) return nullptr;
    Entry& entry = state->entries[key.hash()];
    const void* const from = py::detail::array_proxy(given[1])->data;
    void* const to = py::detail::array_proxy(out.ptr())->data;
    single ? run_plan<float>(key, entry.single, entry, from, to) : run_plan<double>(key, entry.twice, entry, from, to);
    return py::object(out).release().ptr();
  } catch (py::error_already_set& error) {
    error.restore();
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const ridge::Error&) {
    Py_RETURN_NONE;  // the full path raises the error with its own type
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_RuntimeError, error.what());
  }
  return nullptr;
}

PyMethodDef quick_method{"quick", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(&quick)), METH_FASTCALL,
                         "A one-dimensional transform of a plain NumPy array, or None."};

PyObject* interned(const char* text) { return PyUnicode_InternFromString(text); }

}  // namespace

void forget_quick_plans() {
  for (Entry& entry : state->entries) entry = {};
}

void add_fft_quick(py::module_& module) {
  state = new State;  // lives as long as the module, which is never unloaded
  const char* const types[] = {"f4", "f8", "c8", "c16"};
  for (std::size_t i = 0; i < kTypes; ++i) state->types[i] = py::dtype(types[i]).release().ptr();
  state->names = {interned("n"), interned("axis"), interned("norm"), interned("overwrite_x"), interned("workers")};
  state->plan = interned("plan");
  state->norms = {interned("backward"), interned("ortho"), interned("forward")};
  PyObject* const function = PyCFunction_New(&quick_method, nullptr);
  if (function == nullptr) throw py::error_already_set();
  module.add_object("quick", function);
  module.def("default_workers", [] { return default_workers; });
  module.def("set_default_workers", [](std::size_t workers) { default_workers = workers; });
}

}  // namespace ridge::python
