// Handlers of XLA's foreign function interface for nonuniform transforms inside programs compiled by JAX, on the host
// and on CUDA.
//
// Arguments: data (sets, ...), points (axes, count) and, for type 3, frequencies (axes, count). Attributes: type (1, 2
// or 3), sign, order (0 ascending frequencies, 1 as transforms store them), eps. Arrays are packed, last axis fastest.
#include <bit>
#include <complex>
#include <cstdint>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <tuple>
#include <vector>

#include <ridge/foreign.hpp>
#include <ridge/nufft.hpp>

#include "module.hpp"
#include "xla_call.hpp"

namespace py = pybind11;

namespace ridge::python {
namespace {

constexpr std::size_t kKeptNonuniformPlans = 32;

struct NonuniformCall {
  std::int64_t type = 1, sign = 1, order = 0;
  double epsilon = 1e-6;
  const xla::ArrayBuffer* data = nullptr;
  const xla::ArrayBuffer* points = nullptr;
  const xla::ArrayBuffer* frequencies = nullptr;  // type 3
  const xla::ArrayBuffer* out = nullptr;
  std::size_t sets = 0;
  std::vector<std::size_t> modes{};  // types 1 and 2

  std::size_t axes() const { return static_cast<std::size_t>(points->lengths[0]); }
};

std::vector<std::size_t> lengths_after_sets(const xla::ArrayBuffer& array) {
  std::vector<std::size_t> lengths;
  for (std::int64_t i = 1; i < array.rank; ++i) lengths.push_back(static_cast<std::size_t>(array.lengths[i]));
  return lengths;
}

void check_nonuniform_types(const NonuniformCall& call) {
  const bool single = is_single_type(call.data->type);
  const auto wanted = single ? xla::Type::f32 : xla::Type::f64;
  if (!is_complex_type(call.data->type) || call.out->type != call.data->type)
    refuse_call("the data and the result need one complex type");
  for (const xla::ArrayBuffer* coordinates : {call.points, call.frequencies}) {
    if (coordinates == nullptr) continue;
    if (coordinates->type != wanted) refuse_call("the points need the real type of the data's precision");
    if (coordinates->rank != 2 || coordinates->lengths[0] < 1 || coordinates->lengths[0] > 3)
      refuse_call("the points need the shape (axes, count), one to three axes");
  }
}

NonuniformCall nonuniform_call(const xla::CallFrame& frame) {
  NonuniformCall call;
  call.type = integer_attribute(frame.attributes, "type");
  if (call.type < 1 || call.type > 3) refuse_call("type must be 1, 2 or 3, got " + std::to_string(call.type));
  call.sign = integer_attribute(frame.attributes, "sign");
  call.order = integer_attribute(frame.attributes, "order");
  call.epsilon = number_attribute(frame.attributes, "eps");
  if (!(call.epsilon > 0))  // a NaN would equal every key of the kept plans
    refuse_call("eps must be above 0, got " + std::to_string(call.epsilon));
  const std::int64_t wanted = call.type == 3 ? 3 : 2;
  if (frame.arguments.count != wanted || frame.results.count != 1)
    refuse_call("needs " + std::to_string(wanted) + " arguments and one result");
  const auto argument = [&](int i) { return static_cast<const xla::ArrayBuffer*>(frame.arguments.items[i]); };
  call.data = argument(0);
  call.points = argument(1);
  if (call.type == 3) call.frequencies = argument(2);
  call.out = static_cast<const xla::ArrayBuffer*>(frame.results.items[0]);
  check_nonuniform_types(call);
  if (call.data->rank < 1 || call.out->rank < 1 || call.data->lengths[0] != call.out->lengths[0])
    refuse_call("the data and the result need the same number of sets, their first axis");
  call.sets = static_cast<std::size_t>(call.data->lengths[0]);
  const auto given = lengths_after_sets(*call.data), made = lengths_after_sets(*call.out);
  if (call.type != 3) call.modes = call.type == 1 ? made : given;
  const auto per = [](const xla::ArrayBuffer& coordinates) {
    return std::vector{static_cast<std::size_t>(coordinates.lengths[1])};
  };
  const bool fits = call.type == 1   ? given == per(*call.points) && made.size() == call.axes()
                    : call.type == 2 ? made == per(*call.points) && given.size() == call.axes()
                                     : given == per(*call.points) && made == per(*call.frequencies) &&
                                           call.frequencies->lengths[0] == call.points->lengths[0];
  if (!fits) refuse_call("the shapes of the data, the points and the result do not fit");
  return call;
}

// The plan of a problem without points. Each call sets its points in a copy: copies share tables and work areas.
// Numbers of points that round up to the same power of two have one plan. Each stream of CUDA has its own plans,
// because their work areas are ordered by the stream.
template <class Plan, class Make>
Plan kept_nonuniform_plan(const NonuniformCall& call, const Make& make, std::uintptr_t stream = 0) {
  using Key = std::tuple<std::uintptr_t, std::int64_t, std::int64_t, std::int64_t, double, std::size_t, std::size_t,
                         std::size_t, std::vector<std::size_t>>;
  static std::mutex mutex;
  static std::map<Key, Plan>* const plans = new std::map<Key, Plan>;  // never destroyed: drivers end first
  const std::size_t points = std::bit_ceil(static_cast<std::size_t>(call.points->lengths[1]));
  const Key key{stream, call.type, call.sign, call.order, call.epsilon, call.sets, call.axes(), points, call.modes};
  const std::lock_guard lock(mutex);
  if (plans->size() >= kKeptNonuniformPlans && !plans->contains(key)) plans->clear();
  const auto found = plans->find(key);
  return found != plans->end() ? found->second : plans->emplace(key, make()).first->second;
}

template <class T>
std::vector<std::span<const T>> rows_of(const xla::ArrayBuffer& coordinates) {
  std::vector<std::span<const T>> rows;
  const auto count = static_cast<std::size_t>(coordinates.lengths[1]);
  for (std::int64_t axis = 0; axis < coordinates.lengths[0]; ++axis)
    rows.emplace_back(static_cast<const T*>(coordinates.data) + static_cast<std::size_t>(axis) * count, count);
  return rows;
}

nufft::Problem nonuniform_problem(const NonuniformCall& call, std::size_t points) {
  return {.type = static_cast<nufft::Type>(call.type),
          .modes = call.modes,
          .points = points,
          .epsilon = call.epsilon,
          .sign = call.sign >= 0 ? 1 : -1,
          .batch = call.sets,
          .order = call.order != 0 ? nufft::Order::fft : nufft::Order::centered};
}

template <class T>
void run_nonuniform(const NonuniformCall& call) {
  const std::span in{static_cast<const std::complex<T>*>(call.data->data), elements_of(*call.data)};
  const std::span out{static_cast<std::complex<T>*>(call.out->data), elements_of(*call.out)};
  const int sign = call.sign >= 0 ? 1 : -1;
  const auto points = rows_of<T>(*call.points);
  if (call.type == 3) {
    auto plan = kept_nonuniform_plan<nufft::Type3Plan<T>>(call, [&] {
      return nufft::Type3Plan<T>({.axes = call.axes(), .epsilon = call.epsilon, .sign = sign, .batch = call.sets});
    });
    plan.set_points(points, rows_of<T>(*call.frequencies));
    return plan.run(in, out);
  }
  auto plan = kept_nonuniform_plan<nufft::Plan<T>>(
      call, [&] { return nufft::Plan<T>(host(), nonuniform_problem(call, points.front().size())); });
  const auto row = [&](std::size_t i) { return i < points.size() ? points[i] : std::span<const T>(); };
  plan.set_points(row(0), row(1), row(2));
  plan.run(in, out);
}

// Rows of coordinates on the device, in host memory: type 3 chooses its grid by them.
template <class T>
std::vector<std::vector<T>> downloaded(Queue& queue, const Device& device, const xla::ArrayBuffer& coordinates) {
  const auto count = static_cast<std::size_t>(coordinates.lengths[1]);
  std::vector<std::vector<T>> rows(static_cast<std::size_t>(coordinates.lengths[0]), std::vector<T>(count));
  if (count == 0) return rows;
  const Buffer all =
      buffer_over(device, reinterpret_cast<std::uintptr_t>(coordinates.data), rows.size() * count * sizeof(T));
  for (std::size_t axis = 0; axis < rows.size(); ++axis)
    queue.download(all, rows[axis].data(), count * sizeof(T), axis * count * sizeof(T));
  queue.finish();
  return rows;
}

template <class T>
void enqueue_nonuniform(const NonuniformCall& call, std::uintptr_t stream) {
  const Device device = ridge::device("cuda:0");
  Queue queue = queue_over(device, stream);
  const auto buffer = [&](const xla::ArrayBuffer& array) {
    return buffer_over(device, reinterpret_cast<std::uintptr_t>(array.data),
                       elements_of(array) * sizeof(std::complex<T>));
  };
  const Buffer out = buffer(*call.out);
  if (elements_of(*call.data) == 0) return queue.fill(out, std::byte{0});
  const Buffer in = buffer(*call.data);
  const int sign = call.sign >= 0 ? 1 : -1;
  if (call.type == 3) {
    nufft::Type3Plan<T> plan(device, {.axes = call.axes(), .epsilon = call.epsilon, .sign = sign, .batch = call.sets});
    const auto points = downloaded<T>(queue, device, *call.points),
               to = downloaded<T>(queue, device, *call.frequencies);
    plan.set_points({points.begin(), points.end()}, {to.begin(), to.end()});
    plan.enqueue(queue, in, out);
    return queue.finish();  // the plan's memory is freed here
  }
  const auto count = static_cast<std::size_t>(call.points->lengths[1]);
  auto plan = kept_nonuniform_plan<nufft::Plan<T>>(
      call, [&] { return nufft::Plan<T>(device, nonuniform_problem(call, count)); }, stream);
  std::vector<Buffer> axes;
  for (std::size_t axis = 0; axis < call.axes(); ++axis) {
    const T* row = static_cast<const T*>(call.points->data) + axis * count;
    axes.push_back(buffer_over(device, reinterpret_cast<std::uintptr_t>(row), count * sizeof(T)));
  }
  plan.set_points(queue, count, axes);
  plan.enqueue(queue, in, out);
  queue.finish();  // the sorted points are freed here
}

xla::Failure* nonuniform_handler(xla::CallFrame* frame) {
  return guarded_call(frame, [](const xla::CallFrame& given) {
    const NonuniformCall call = nonuniform_call(given);
    if (call.sets == 0) return;
    is_single_type(call.data->type) ? run_nonuniform<float>(call) : run_nonuniform<double>(call);
  });
}

xla::Failure* cuda_nonuniform_handler(xla::CallFrame* frame) {
  return guarded_call(frame, [](const xla::CallFrame& given) {
    const NonuniformCall call = nonuniform_call(given);
    if (elements_of(*call.out) == 0) return;
    const std::uintptr_t stream = stream_of(given);
    is_single_type(call.data->type) ? enqueue_nonuniform<float>(call, stream)
                                    : enqueue_nonuniform<double>(call, stream);
  });
}

}  // namespace

void add_jax_nufft(py::module_& module) {
  module.def("xla_nufft_handler", [](const std::string& platform) {
    return capsule_of_handler(platform == "CUDA" ? &cuda_nonuniform_handler : &nonuniform_handler);
  });
}

}  // namespace ridge::python
