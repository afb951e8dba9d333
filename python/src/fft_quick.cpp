// The short path of one-dimensional transforms of NumPy arrays: arguments parsed without pybind11, plans of short
// transforms found by the array's layout. A call of 64 points spends most of its time outside the transform.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <variant>
#include <vector>

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>
#include <ridge/error.hpp>
#include <ridge/fft.hpp>
#include <ridge/fft/tensor.hpp>

#include "module.hpp"
#include "plans.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

using fft::RealKind;
using fft::TensorKind;

constexpr int kMostAxes = 4;
constexpr std::size_t kMostPoints = 4096;  // of plans in the table; longer ones stay in the limited cache of plans
constexpr std::size_t kEntries = 64;
enum Type : std::uint8_t { kFloat, kDouble, kComplexFloat, kComplexDouble, kTypes };
enum Function : std::uint8_t { kFft, kIfft, kRfft, kIrfft, kHfft, kIhfft, kDct, kIdct, kDst, kIdst, kFunctions };

thread_local std::size_t default_workers = 1;  // of calls without `workers`, set by ridge.fft.set_workers

// Everything that decides the plan and the output of a call.
struct Key {
  std::uint8_t function = 0, type = 0, axes = 0, axis = 0, norm = 0;
  std::uint8_t real_type = 0;  // cosine and sine transforms: 1 to 4, of the transform that runs
  bool orthogonal = false, packed = false;
  std::array<std::ptrdiff_t, kMostAxes> shape{}, strides{};  // strides in elements
  std::ptrdiff_t length = 0;                                 // of the transform
  bool operator==(const Key&) const = default;
  std::size_t hash() const {
    std::size_t sum = function + 16U * type + 64U * axis + 256U * norm + 1024U * real_type + 8192U * orthogonal;
    sum += static_cast<std::size_t>(length) << 16U;
    for (std::size_t i = 0; i < axes; ++i) {
      sum = sum * 0x9e3779b97f4a7c15U + static_cast<std::size_t>(shape[i] * 31 + strides[i]);
    }
    return (sum ^ (sum >> 29)) % kEntries;
  }
  bool complex_in() const { return type >= kComplexFloat; }
  bool single() const { return type == kFloat || type == kComplexFloat; }
  bool to_half() const { return function == kRfft || function == kIhfft; }
  bool from_half() const { return function == kIrfft || function == kHfft; }
  bool trigonometric() const { return function >= kDct; }
  bool inverse() const { return function % 2 == 1; }  // of the function, for its norm
  bool widened() const { return function <= kIfft && !complex_in(); }
  std::ptrdiff_t needed() const { return from_half() ? length / 2 + 1 : length; }  // values along the axis
  bool padded() const { return needed() > shape[axis]; }
  std::size_t points() const {  // of the input
    std::size_t all = 1;
    for (std::size_t i = 0; i < axes; ++i) all *= static_cast<std::size_t>(shape[i]);
    return all;
  }
  std::size_t lines() const { return points() / static_cast<std::size_t>(shape[axis]); }
};

struct Entry {
  Key key{};
  std::variant<std::monostate, fft::TensorPlan<float>, fft::TensorPlan<double>, fft::Plan<float>, fft::Plan<double>>
      plan{};
};

// Values of a call; null means the default.
enum Value : std::uint8_t { kN, kAxis, kNorm, kOverwrite, kWorkers, kKind, kOrthogonalize, kOut, kValues };
using Values = std::array<PyObject*, kValues>;
// Their order in calls by position.
constexpr std::array<std::uint8_t, 5> kFourierOrder{kN, kAxis, kNorm, kOverwrite, kWorkers};
constexpr std::array<std::uint8_t, 7> kCosineOrder{kKind, kN, kAxis, kNorm, kOverwrite, kWorkers, kOrthogonalize};

struct State {
  std::array<Entry, kEntries> entries{};
  std::array<PyObject*, kTypes> types{};  // NumPy's own descriptors: most arrays refer to these very objects
  std::array<PyObject*, kValues> names{};
  PyObject* plan = nullptr;
  std::array<PyObject*, 3> norms{};
};
State* state = nullptr;

bool same_text(PyObject* a, PyObject* b) { return a == b || (PyUnicode_Check(a) != 0 && PyUnicode_Compare(a, b) == 0); }

bool collect(std::span<const std::uint8_t> order, PyObject* positional, PyObject* named, Values& values) {
  const Py_ssize_t count = PyTuple_GET_SIZE(positional);
  if (count > static_cast<Py_ssize_t>(order.size())) return false;
  for (Py_ssize_t i = 0; i < count; ++i) values[order[static_cast<std::size_t>(i)]] = PyTuple_GET_ITEM(positional, i);
  PyObject *key = nullptr, *value = nullptr;
  for (Py_ssize_t at = 0; PyDict_Next(named, &at, &key, &value) != 0;) {
    std::size_t i = 0;
    while (i < order.size() && !same_text(key, state->names[order[i]])) ++i;
    if (i == order.size()) {  // by name only
      if (order.size() != kFourierOrder.size()) return false;
      if (same_text(key, state->plan) && value == Py_None) continue;
      if (!same_text(key, state->names[kOut])) return false;
    }
    i = i == order.size() ? static_cast<std::size_t>(kOut) : order[i];
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

// The type of a cosine or sine transform, and whether it is orthogonalized.
bool describe_kind(const Values& values, Key& key) {
  std::ptrdiff_t kind = 2;
  if (values[kKind] != nullptr && !integer(values[kKind], kind)) return false;
  if (kind < 1 || kind > 4) return false;
  constexpr std::array<std::uint8_t, 5> kInverse{0, 1, 3, 2, 4};
  key.real_type = key.inverse() ? kInverse[static_cast<std::size_t>(kind)] : static_cast<std::uint8_t>(kind);
  PyObject* const asked = values[kOrthogonalize];
  if (asked != nullptr && asked != Py_None && asked != Py_True && asked != Py_False) return false;
  key.orthogonal = asked == nullptr || asked == Py_None ? key.norm == 1 : asked == Py_True;
  return key.real_type != 1 || key.function >= kDst || key.length >= 2;
}

// Fills the key; false if the full path must handle the call.
bool describe(PyObject* x, const Values& values, Key& key) {
  const auto& array = *py::detail::array_proxy(x);
  const auto default_or = [&](std::size_t i, PyObject* neutral) {
    return values[i] == nullptr || values[i] == neutral;
  };
  if (array.nd < 1 || array.nd > kMostAxes || (array.flags & py::detail::npy_api::NPY_ARRAY_ALIGNED_) == 0 ||
      !default_or(kOverwrite, Py_False) || !default_or(kWorkers, Py_None) || default_workers != 1 ||
      !norm_of(values[kNorm], key.norm)) {
    return false;
  }
  key.axes = static_cast<std::uint8_t>(array.nd);
  key.packed = (array.flags & py::array::c_style) != 0;
  while (key.type < kTypes && state->types[key.type] != array.descr) ++key.type;
  if (key.type == kTypes || (key.complex_in() ? key.to_half() || key.trigonometric() : key.from_half())) return false;
  constexpr std::array<std::ptrdiff_t, kTypes> kBytes{4, 8, 8, 16};
  for (int i = 0; i < array.nd; ++i) {
    const auto at = static_cast<std::size_t>(i);
    if (array.dimensions[i] == 0 || array.strides[i] % kBytes[key.type] != 0) return false;
    key.shape[at] = array.dimensions[i];
    key.strides[at] = array.strides[i] / kBytes[key.type];
  }
  std::ptrdiff_t axis = -1;
  if (values[kAxis] != nullptr && !integer(values[kAxis], axis)) return false;
  if (axis < 0) axis += array.nd;
  if (axis < 0 || axis >= array.nd) return false;
  key.axis = static_cast<std::uint8_t>(axis);
  key.length = key.from_half() ? 2 * (key.shape[key.axis] - 1) : key.shape[key.axis];
  if (!default_or(kN, Py_None) && !integer(values[kN], key.length)) return false;
  if (key.length < 1 || (key.trigonometric() && !describe_kind(values, key))) return false;
  // Input is copied only from packed arrays, and whole. Padded input (n longer than the axis) is handled here only
  // along the last axis of packed arrays of at most kMostPoints points.
  const bool cut = key.needed() < key.shape[key.axis];
  if (!key.packed && (key.widened() || key.function == kHfft)) return false;
  if (key.widened() && cut) return false;
  return !key.padded() || (key.packed && axis + 1 == array.nd && !key.trigonometric() &&
                           key.lines() * static_cast<std::size_t>(key.length) <= kMostPoints);
}

// Shape of the result.
std::array<Py_ssize_t, kMostAxes> result_shape(const Key& key) {
  std::array<Py_ssize_t, kMostAxes> shape{};
  std::copy(key.shape.begin(), key.shape.end(), shape.begin());
  shape[key.axis] = key.to_half() ? key.length / 2 + 1 : key.length;
  return shape;
}

// Scale factor of the outputs for the chosen norm.
double scale_of(const Key& key) {
  std::ptrdiff_t points = key.length;  // of the Fourier transform that a cosine or sine transform is a part of
  if (key.trigonometric()) points = 2 * (key.real_type != 1 ? points : key.function < kDst ? points - 1 : points + 1);
  const double n = static_cast<double>(points);
  return key.norm == 1 ? 1 / std::sqrt(n) : (key.norm == 2) != key.inverse() ? 1 / n : 1.0;
}

// Factors of the first and last value of orthogonalized transforms, as _ends() of ridge/_fft_cosine.py.
void orthogonalize(const Key& key, fft::TensorProblem& problem) {
  const double half = std::sqrt(0.5), whole = std::sqrt(2.0);
  std::vector<double> ones(static_cast<std::size_t>(key.length), 1.0), before = ones, after = ones;
  const bool sine = key.function >= kDst, both = key.real_type == 1 && !sine;
  if (both || key.real_type == 3) (sine ? before.back() : before.front()) *= whole;
  if (both || key.real_type == 2) (sine ? after.back() : after.front()) *= half;
  if (both) before.back() *= whole, after.back() *= half;
  if (before != ones) problem.load = {before};
  if (after != ones) problem.store = {after};
}

fft::TensorProblem problem_of(const Key& key) {
  const auto out = result_shape(key);
  constexpr std::array<TensorKind, kFunctions> kKinds{
      TensorKind::complex_forward, TensorKind::complex_inverse, TensorKind::real_forward, TensorKind::real_inverse,
      TensorKind::real_inverse,    TensorKind::real_forward,    TensorKind::real_to_real, TensorKind::real_to_real,
      TensorKind::real_to_real,    TensorKind::real_to_real};
  const bool widened = key.widened();
  fft::TensorProblem problem{.kind = kKinds[key.function], .in_place = widened, .scale = scale_of(key)};
  if (key.trigonometric()) {
    const int first = static_cast<int>(key.function < kDst ? RealKind::dct1 : RealKind::dst1);
    problem.real_kinds = {static_cast<RealKind>(first + key.real_type - 1)};
    if (key.orthogonal) orthogonalize(key, problem);
  }
  std::ptrdiff_t stride = 1;
  for (std::size_t i = key.axes; i-- > 0;) {
    const fft::Dimension dimension{static_cast<std::size_t>(i == key.axis ? key.length : out[i]),
                                   widened ? stride : key.strides[i], stride};
    (i == key.axis ? problem.axes : problem.loops).push_back(dimension);
    stride *= out[i];
  }
  return problem;
}

// A transform of lines that end in zeros, which are not stored.
fft::Problem boxed_problem_of(const Key& key) {
  const double scale = scale_of(key);
  const auto given = static_cast<std::size_t>(key.shape[key.axis]);
  const bool inverse = key.from_half() || key.function == kIfft;
  fft::Problem problem{.shape = {static_cast<std::size_t>(key.length)},
                       .batch = key.lines(),
                       .kind = key.function <= kIfft ? fft::Kind::complex : fft::Kind::real,
                       .scale_forward = scale,
                       .scale_inverse = scale,
                       .threads = 1,
                       .directions = inverse ? fft::Directions::inverse : fft::Directions::forward};
  (inverse ? problem.wanted : problem.given).count = {given};
  return problem;
}

// Copies real numbers into complex ones.
template <class T>
void widen(const T* from, std::complex<T>* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = from[i];
}

template <class T>
void conjugate(const std::complex<T>* from, std::complex<T>* to, std::size_t count) {
  for (std::size_t i = 0; i < count; ++i) to[i] = std::conj(from[i]);
}

// Runs the plan with the copies that it needs: complex numbers of real ones, conjugates of Hermitian transforms.
template <class T, class Run>
void run_with_copies(const Key& key, const void* in, void* out, const Run& run) {
  using Complex = std::complex<T>;
  std::vector<Complex> copy((key.widened() && key.padded()) || key.function == kHfft ? key.points() : 0);
  if (key.function == kHfft) conjugate(static_cast<const Complex*>(in), copy.data(), copy.size());
  if (key.widened()) {
    Complex* const to = copy.empty() ? static_cast<Complex*>(out) : copy.data();
    widen(static_cast<const T*>(in), to, key.points());
    in = to;
  }
  run(copy.empty() ? in : copy.data(), out);
  if (key.function == kIhfft) {
    auto* const spectrum = static_cast<Complex*>(out);
    conjugate(spectrum, spectrum, key.lines() * static_cast<std::size_t>(key.length / 2 + 1));
  }
}

template <class T>
void run_plan(const Key& key, Entry& entry, const void* in, void* out) {
  using Tensor = fft::TensorPlan<T>;
  using Boxed = fft::Plan<T>;
  const bool boxed = key.padded();
  if (!boxed && std::max(key.points(), static_cast<std::size_t>(key.length)) > kMostPoints) {
    const Tensor plan = fft::cached_tensor_plan<T>(problem_of(key), options_of(false));
    const py::gil_scoped_release free;
    return run_with_copies<T>(key, in, out, [&](const void* from, void* to) { plan.run(from, to); });
  }
  if (!(entry.key == key) || std::holds_alternative<std::monostate>(entry.plan)) {
    if (boxed) {
      Boxed made(host(), boxed_problem_of(key), options_of(false));
      entry = Entry{.key = key, .plan = std::move(made)};
    } else {
      Tensor made = fft::cached_tensor_plan<T>(problem_of(key), options_of(false));
      entry = Entry{.key = key, .plan = std::move(made)};
    }
  }
  run_with_copies<T>(key, in, out, [&](const void* from, void* to) {
    if (!boxed) return std::get<Tensor>(entry.plan).run(from, to);
    const bool inverse = key.from_half() || key.function == kIfft;
    const Boxed& plan = std::get<Boxed>(entry.plan);
    inverse ? plan.inverse_unchecked(from, to) : plan.forward_unchecked(from, to);
  });
}

// True if the result can be written to that object directly: a packed array of the result's type and shape that does
// not share memory with x.
bool writable_directly(PyObject* object, PyObject* x, const Key& key, PyObject* type,
                       const std::array<Py_ssize_t, kMostAxes>& shape) {
  const auto& numpy = py::detail::npy_api::get();
  constexpr int kNeeded = static_cast<int>(py::array::c_style) | py::detail::npy_api::NPY_ARRAY_ALIGNED_ |
                          py::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  if (Py_TYPE(object) != numpy.PyArray_Type_) return false;
  const auto &out = *py::detail::array_proxy(object), &in = *py::detail::array_proxy(x);
  if (out.descr != type || out.nd != key.axes || (out.flags & kNeeded) != kNeeded ||
      !std::equal(shape.begin(), shape.begin() + key.axes, out.dimensions)) {
    return false;
  }
  const bool single = key.single();
  std::ptrdiff_t low = 0, high = 0, size = single ? 4 : 8;
  for (std::size_t i = 0; i < key.axes; ++i) {
    const std::ptrdiff_t last = (key.shape[i] - 1) * key.strides[i];
    (last < 0 ? low : high) += last;
    size *= shape[i];
  }
  const std::ptrdiff_t element = (single ? 4 : 8) * (key.complex_in() ? 2 : 1);
  const bool real_out = key.from_half();
  const auto first = reinterpret_cast<std::uintptr_t>(in.data) + static_cast<std::uintptr_t>(low * element);
  const auto end = reinterpret_cast<std::uintptr_t>(in.data) + static_cast<std::uintptr_t>((high + 1) * element);
  const auto begin = reinterpret_cast<std::uintptr_t>(out.data);
  return end <= begin || begin + static_cast<std::uintptr_t>(size * (real_out ? 1 : 2)) <= first;
}

// quick(function, x, positional, named): the transform, or None if the full path must handle the call.
PyObject* quick(PyObject*, PyObject* const* given, Py_ssize_t count) {
  try {
    const auto& numpy = py::detail::npy_api::get();
    Key key;
    Values values{};
    std::ptrdiff_t function = 0;
    if (count != 4 || Py_TYPE(given[1]) != numpy.PyArray_Type_ || !integer(given[0], function) || function < 0 ||
        function >= kFunctions || PyTuple_CheckExact(given[2]) == 0 || PyDict_CheckExact(given[3]) == 0) {
      Py_RETURN_NONE;
    }
    key.function = static_cast<std::uint8_t>(function);
    const std::span<const std::uint8_t> order =
        key.trigonometric() ? std::span<const std::uint8_t>(kCosineOrder) : kFourierOrder;
    if (!collect(order, given[2], given[3], values) || !describe(given[1], values, key)) Py_RETURN_NONE;
    const bool real_out = key.from_half() || key.trigonometric();
    PyObject* const type =
        state->types[key.single() ? (real_out ? kFloat : kComplexFloat) : (real_out ? kDouble : kComplexDouble)];
    const auto shape = result_shape(key);
    PyObject* const asked = values[kOut] == Py_None ? nullptr : values[kOut];
    if (asked != nullptr && !writable_directly(asked, given[1], key, type, shape)) Py_RETURN_NONE;
    py::object out = py::reinterpret_borrow<py::object>(asked);
    if (asked == nullptr) {
      Py_INCREF(type);  // the new array takes it over
      out = py::reinterpret_steal<py::object>(
          numpy.PyArray_NewFromDescr_(numpy.PyArray_Type_, type, key.axes, shape.data(), nullptr, nullptr, 0, nullptr));
      if (!out) return nullptr;
    }
    Entry& entry = state->entries[key.hash()];
    const void* const from = py::detail::array_proxy(given[1])->data;
    void* const to = py::detail::array_proxy(out.ptr())->data;
    key.single() ? run_plan<float>(key, entry, from, to) : run_plan<double>(key, entry, from, to);
    return out.release().ptr();
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
  state->names = {interned("n"),       interned("axis"), interned("norm"),          interned("overwrite_x"),
                  interned("workers"), interned("type"), interned("orthogonalize"), interned("out")};
  state->plan = interned("plan");
  state->norms = {interned("backward"), interned("ortho"), interned("forward")};
  PyObject* const function = PyCFunction_New(&quick_method, nullptr);
  if (function == nullptr) throw py::error_already_set();
  module.add_object("quick", function);
  module.def("default_workers", [] { return default_workers; });
  module.def("set_default_workers", [](std::size_t workers) { default_workers = workers; });
}

}  // namespace ridge::python
