// Handlers of XLA's foreign function interface: transforms inside programs compiled by JAX, on the host and on CUDA.
//
// Attributes: kind (0 forward, 1 inverse, 2 real to half spectrum, 3 half spectrum to real, 4 real to real), count (of
// transformed axes, the last ones), length (samples of the halved axis), scale, adjoint (1: the conjugate transpose of
// that map), real_kinds. Arrays are packed, last axis fastest.
#include <algorithm>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

#include <pybind11/pybind11.h>
#include <ridge/fft.hpp>
#include <ridge/fft/device_tensor.hpp>
#include <ridge/fft/tensor.hpp>
#include <ridge/foreign.hpp>

#include "module.hpp"
#include "plans.hpp"
#include "xla_call.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

using fft::TensorKind;
using fft::TensorProblem;

struct Call {
  std::int64_t kind = 0, count = 0, length = 0, adjoint = 0;
  double scale = 1;
  std::vector<std::int64_t> real_kinds{};
  const xla::ArrayBuffer* in = nullptr;
  const xla::ArrayBuffer* out = nullptr;
};

Call call_of(const xla::CallFrame& frame) {
  if (frame.arguments.count != 1 || frame.results.count != 1) refuse_call("needs one argument and one result");
  Call call;
  call.kind = integer_attribute(frame.attributes, "kind");
  call.count = integer_attribute(frame.attributes, "count");
  call.length = integer_attribute(frame.attributes, "length");
  call.adjoint = integer_attribute(frame.attributes, "adjoint");
  call.scale = number_attribute(frame.attributes, "scale");
  const auto& kinds =
      *static_cast<const xla::List*>(attribute(frame.attributes, "real_kinds", xla::AttributeType::array));
  const auto* const first = static_cast<const std::int64_t*>(kinds.values);
  call.real_kinds.assign(first, first + kinds.count);
  call.in = static_cast<const xla::ArrayBuffer*>(frame.arguments.items[0]);
  call.out = static_cast<const xla::ArrayBuffer*>(frame.results.items[0]);
  if (call.kind < 0 || call.kind > 4) refuse_call("kind must be 0 to 4, got " + std::to_string(call.kind));
  if (call.in->rank != call.out->rank) refuse_call("argument and result have different numbers of axes");
  if (call.count < 1 || call.count > call.in->rank)
    refuse_call("count must be 1 to the number of axes, got " + std::to_string(call.count));
  if (call.kind == 4 && static_cast<std::int64_t>(call.real_kinds.size()) != call.count)
    refuse_call("needs one real kind per transformed axis");
  return call;
}

// The plain map's sides; an adjoint reads the second and writes the first.
struct Sides {
  const xla::ArrayBuffer& from;
  const xla::ArrayBuffer& to;
};
Sides sides_of(const Call& call) { return call.adjoint != 0 ? Sides{*call.out, *call.in} : Sides{*call.in, *call.out}; }

// Lengths of the samples along the transformed axes. Checks types and shapes.
std::vector<std::size_t> checked_lengths(const Call& call) {
  const auto [from, to] = sides_of(call);
  const bool real_from = call.kind == 2 || call.kind == 4, real_to = call.kind == 3 || call.kind == 4;
  for (const xla::ArrayBuffer* side : {&from, &to}) {
    const auto type = side->type;
    if (type != xla::Type::f32 && type != xla::Type::f64 && !is_complex_type(type))
      refuse_call("needs float32, float64, complex64 or complex128 arrays");
  }
  if (is_complex_type(from.type) == real_from || is_complex_type(to.type) == real_to ||
      is_single_type(from.type) != is_single_type(to.type)) {
    refuse_call("the types of argument and result do not fit the transform");
  }
  const std::int64_t loops = from.rank - call.count;
  std::vector<std::size_t> lengths;
  for (std::int64_t i = 0; i < from.rank; ++i) {
    std::int64_t samples = from.lengths[i], wanted = from.lengths[i];
    if (i + 1 == from.rank && call.kind == 2) wanted = samples / 2 + 1;
    if (i + 1 == from.rank && call.kind == 3) {
      samples = to.lengths[i];
      wanted = samples;
      if (from.lengths[i] != samples / 2 + 1) refuse_call("the halved axis needs length / 2 + 1 values");
    }
    if (to.lengths[i] != wanted) refuse_call("the shapes of argument and result do not fit");
    if (i >= loops && samples < 1) refuse_call("a transformed axis has no points");
    if (i >= loops) lengths.push_back(static_cast<std::size_t>(samples));
  }
  return lengths;
}

TensorProblem problem_of(const Call& call, const std::vector<std::size_t>& lengths) {
  const auto [from, to] = sides_of(call);
  TensorProblem problem{.kind = static_cast<TensorKind>(call.kind), .scale = call.scale};
  std::ptrdiff_t in = 1, out = 1;
  const std::int64_t loops = from.rank - call.count;
  for (std::int64_t i = from.rank; i-- > 0;) {
    if (i >= loops) {
      problem.axes.insert(problem.axes.begin(), {lengths[static_cast<std::size_t>(i - loops)], in, out});
    } else {
      problem.loops.push_back({static_cast<std::size_t>(from.lengths[i]), in, out});
    }
    in *= from.lengths[i], out *= to.lengths[i];
  }
  for (const std::int64_t kind : call.real_kinds) {
    if (kind < 0 || kind > static_cast<int>(fft::RealKind::dst4)) refuse_call("unknown real kind");
    problem.real_kinds.push_back(static_cast<fft::RealKind>(kind));
  }
  if (call.kind != 4) problem.real_kinds.clear();
  problem.in_place = call.in->data == call.out->data;
  return call.adjoint != 0 ? fft::adjoint(problem) : problem;
}

void run_on_host(const xla::CallFrame& frame) {
  const Call call = call_of(frame);
  const std::vector<std::size_t> lengths = checked_lengths(call);
  if (elements_of(*call.out) == 0) return;
  const TensorProblem problem = problem_of(call, lengths);
  if (is_single_type(call.in->type)) {
    fft::cached_tensor_plan<float>(problem, options_of(false)).run(call.in->data, call.out->data);
  } else {
    fft::cached_tensor_plan<double>(problem, options_of(false)).run(call.in->data, call.out->data);
  }
}

// Finds or makes the plan of a call on CUDA. Each stream has its own, because scratch memory is ordered by the stream.
template <class Plan, class Make>
const Plan& cuda_plan(const Call& call, const std::vector<std::size_t>& lengths, std::size_t batch,
                      std::uintptr_t stream, const Make& make) {
  using Key = std::tuple<std::uintptr_t, std::int64_t, std::int64_t, double, std::size_t, std::vector<std::size_t>,
                         std::vector<std::int64_t>, bool>;
  static std::mutex mutex;
  static std::map<Key, Plan>* const plans = new std::map<Key, Plan>;  // never destroyed: drivers end first
  const std::lock_guard lock(mutex);
  const Key key{stream, call.kind, call.adjoint,    call.scale,
                batch,  lengths,   call.real_kinds, call.in->data == call.out->data};
  const auto found = plans->find(key);
  return found != plans->end() ? found->second : plans->emplace(key, make(ridge::device("cuda:0"))).first->second;
}

fft::Problem box_problem(const Call& call, const std::vector<std::size_t>& lengths, std::size_t batch) {
  const fft::Problem problem{.shape = lengths,
                             .batch = batch,
                             .kind = call.kind >= 2 ? fft::Kind::real : fft::Kind::complex,
                             .scale_forward = call.scale,
                             .scale_inverse = call.scale,
                             .directions = call.kind % 2 == 0 ? fft::Directions::forward : fft::Directions::inverse};
  return call.adjoint != 0 ? fft::adjoint(problem) : problem;
}

template <class T>
void enqueue_on_cuda(const Call& call, const std::vector<std::size_t>& lengths, std::uintptr_t stream) {
  std::size_t batch = 1;
  for (std::int64_t i = 0; i < call.in->rank - call.count; ++i) batch *= static_cast<std::size_t>(call.in->lengths[i]);
  const auto buffer = [](const Device& device, const xla::ArrayBuffer& array) {
    return buffer_over(device, reinterpret_cast<std::uintptr_t>(array.data),
                       elements_of(array) * sizeof(T) * (is_complex_type(array.type) ? 2 : 1));
  };
  const auto enqueue = [&](const auto& plan, const auto& run) {
    Queue queue = queue_over(plan.device(), stream);
    run(plan, queue, buffer(plan.device(), *call.in), buffer(plan.device(), *call.out));
  };
  if (call.kind == 4) {
    using Real = fft::DeviceTensorPlan<T>;
    const Real& plan = cuda_plan<Real>(call, lengths, batch, stream, [&](const Device& device) {
      return Real(device, problem_of(call, lengths), options_of(false));
    });
    return enqueue(plan,
                   [](const Real& p, Queue& queue, const Buffer& in, const Buffer& out) { p.enqueue(queue, in, out); });
  }
  using Fourier = fft::Plan<T>;
  const Fourier& plan = cuda_plan<Fourier>(call, lengths, batch, stream, [&](const Device& device) {
    return Fourier(device, box_problem(call, lengths, batch), options_of(false));
  });
  const bool inverse = (call.kind % 2 == 1) != (call.adjoint != 0);
  enqueue(plan, [&](const Fourier& p, Queue& queue, const Buffer& in, const Buffer& out) {
    inverse ? p.enqueue_inverse(queue, in, out) : p.enqueue_forward(queue, in, out);
  });
}

void run_on_cuda(const xla::CallFrame& frame) {
  const Call call = call_of(frame);
  const std::vector<std::size_t> lengths = checked_lengths(call);
  if (elements_of(*call.out) == 0) return;
  if (lengths.size() > 3)  // ridge.jax divides such transforms
    refuse_call("a call on CUDA transforms at most three axes, got " + std::to_string(lengths.size()));
  const std::uintptr_t stream = stream_of(frame);
  is_single_type(call.in->type) ? enqueue_on_cuda<float>(call, lengths, stream)
                                : enqueue_on_cuda<double>(call, lengths, stream);
}

xla::Failure* host_handler(xla::CallFrame* frame) { return guarded_call(frame, run_on_host); }
xla::Failure* cuda_handler(xla::CallFrame* frame) { return guarded_call(frame, run_on_cuda); }

}  // namespace

void add_jax(py::module_& module) {
  module.def("xla_handler", [](const std::string& platform) {
    return capsule_of_handler(platform == "CUDA" ? &cuda_handler : &host_handler);
  });
  module.def("set_xla_api_version", [](int major, int minor) { xla_api_version = {major, minor}; });
}

}  // namespace ridge::python
