// The public FFT plan: checks the caller's memory before any element is accessed.
#include <algorithm>
#include <cstdint>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>
#include <ridge/fft.hpp>

#include "base/fork_gate.hpp"
#include "base/trace.hpp"
#include "fft/device/route.hpp"
#include "fft/device/transform.hpp"
#include "fft/float16.hpp"
#include "fft/host/lines.hpp"
#include "fft/host/transform.hpp"
#include "plan/arguments.hpp"
#include "plan/improve.hpp"

namespace ridge::fft {
namespace {

[[noreturn]] void refuse_call(const std::string& what) {
  throw Error(ErrorKind::invalid_argument, fmt::format("fft: {}", what));
}

// One of the caller's arrays: `count` elements of `bytes` each, made of numbers of `number` bytes.
struct Memory {
  const void* data;
  std::size_t count, bytes, number;
  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(data); }
};

template <class Element>
Memory memory(std::span<Element> span, std::size_t number) {
  return {span.data(), span.size(), sizeof(Element), number};
}

void check_array(const char* what, const Memory& array, std::size_t needed) {
  if (array.data == nullptr) refuse_call(fmt::format("the {} is null", what));
  if (array.begin() % array.number != 0) {
    refuse_call(fmt::format("the {} at address {:#x} is not aligned to its numbers of {} bytes", what, array.begin(),
                            array.number));
  }
  if (array.count < needed)
    refuse_call(fmt::format("the {} has {} elements, this plan needs {}", what, array.count, needed));
}

template <class AnyTransform>
void check(const AnyTransform& transform, Direction direction, const Memory& in, std::size_t in_needed,
           const Memory& out, std::size_t out_needed) {
  check_array("input", in, in_needed);
  check_array("output", out, out_needed);
  const bool apart =
      in.begin() + in_needed * in.bytes <= out.begin() || out.begin() + out_needed * out.bytes <= in.begin();
  if (transform.problem().in_place && in.data != out.data) {
    refuse_call("this plan is in place: pass the same array as input and output");
  }
  if (!transform.problem().in_place && !apart) {
    refuse_call("input and output overlap; plan with in_place and give the same array, or give separate ones");
  }
  if (direction == Direction::inverse && transform.layout().samples.aliases) {
    refuse_call("the input's strides make points share elements: only the forward transform is possible");
  }
}

void check_kind(const Problem& problem, Kind kind, Samples samples, Direction direction) {
  if (problem.storage != Storage::same) refuse_call("this plan stores 16-bit floats: pass std::uint16_t arrays");
  if (problem.kind != kind) {
    refuse_call(kind == Kind::complex ? "this plan has real samples: pass real arrays for them"
                                      : "this plan has complex samples: pass complex arrays");
  }
  if (direction == Direction::forward && problem.load_forward.samples != samples) {
    refuse_call("the array's type differs from load_forward.samples: pass samples of that type");
  }
}

template <class AnyTransform>
void forward_integers(const AnyTransform& transform, const Memory& in, const Memory& out, Samples samples) {
  const Problem& problem = transform.problem();
  check_kind(problem, problem.kind, samples, Direction::forward);
  const std::size_t each = problem.kind == Kind::complex ? 2 : 1;
  check(transform, Direction::forward, in, each * transform.layout().samples.extent, out,
        transform.layout().spectrum.extent);
  transform.run(Direction::forward, in.data, const_cast<void*>(out.data));
}

template <class Host, class OnDevice, class Call>
auto with_transform(const Host& host, const OnDevice& on_device, const Call& call) {
  return on_device ? call(*on_device) : call(*host);
}

void enqueue(const DeviceTransform* transform, Direction direction, Queue& queue, const Buffer& in, const Buffer& out) {
  if (transform == nullptr) refuse_call("this plan runs on the host: pass spans, not device buffers");
  const Device& device = transform->device();
  planner::check_queue("fft", queue, device);
  planner::check_buffer("fft", "input", in, device, transform->bytes_of(direction, true));
  planner::check_buffer("fft", "output", out, device, transform->bytes_of(direction, false));
  planner::check_apart("fft", in, out, transform->problem().in_place);
  if (direction == Direction::inverse && transform->layout().samples.aliases) {
    refuse_call("the input's strides make points share elements: only the forward transform is possible");
  }
  transform->enqueue(queue, direction, in, out);
}

}  // namespace

template <class T>
Plan<T>::Plan(const Device& device, const Problem& problem, const planner::Options& options)
    : directions_(problem.directions) {
  const base::ForkGate gate;
  const base::trace::Span span("plan", [&] {
    return fmt::format("fft {} {} x {} on {}", problem.kind == Kind::real ? "real" : "complex",
                       fmt::join(problem.shape, "x"), problem.batch, device.id());
  });
  if (problem.storage != Storage::same && sizeof(T) != sizeof(float)) {
    refuse_call("16-bit storage needs float arithmetic, got double: use plan<float>");
  }
  const auto make = [&]<class V>(planner::Exchangeable<V>& plan, auto... float64) {
    plan = planner::Exchangeable<V>(std::make_shared<const V>(device, problem, options, float64...));
    planner::improve<V>(plan, options, [device, problem, float64...](const planner::Options& measuring) {
      return std::make_shared<const V>(device, problem, measuring, float64...);
    });
  };
  device.is_host() ? make(transform_) : make(on_device_, sizeof(T) == sizeof(double));
}

template <class T>
void Plan<T>::check_direction(bool forward) const {
  if (directions_ == Directions::both || forward == (directions_ == Directions::forward)) return;
  refuse_call(forward ? "this plan has the inverse transform only: plan with Directions::both"
                      : "this plan has the forward transform only: plan with Directions::both");
}

template <class T>
void Plan<T>::run_float16(bool forward, std::span<const std::uint16_t> in, std::span<std::uint16_t> out) const {
  check_direction(forward);
  if (problem().storage == Storage::same)
    refuse_call("std::uint16_t arrays need a plan with Storage::float16 or bfloat16, this plan has Storage::same");
  const Direction direction = forward ? Direction::forward : Direction::inverse;
  with_transform(transform_, on_device_, [&](const auto& transform) {
    const std::size_t samples = input_size(), spectrum = output_size();
    check(transform, direction, memory(in, 2), forward ? samples : spectrum, memory(out, 2),
          forward ? spectrum : samples);
    if constexpr (std::is_same_v<std::decay_t<decltype(transform)>, Transform<float>>) {
      fft::run_float16(transform, direction, in.data(), out.data());
    } else {
      transform.run(direction, in.data(), out.data());
    }
  });
}

template <class T>
void Plan<T>::forward(std::span<const std::uint16_t> in, std::span<std::uint16_t> out) const {
  run_float16(true, in, out);
}
template <class T>
void Plan<T>::inverse(std::span<const std::uint16_t> in, std::span<std::uint16_t> out) const {
  run_float16(false, in, out);
}

template <class T>
void Plan<T>::forward_unchecked(const void* in, void* out) const noexcept {
  transform_->run_unchecked(Direction::forward, in, out);
}
template <class T>
void Plan<T>::inverse_unchecked(const void* in, void* out) const noexcept {
  transform_->run_unchecked(Direction::inverse, in, out);
}

template <class T>
void Plan<T>::enqueue_forward(Queue& queue, const Buffer& in, const Buffer& out) const {
  check_direction(true);
  enqueue(on_device_.get(), Direction::forward, queue, in, out);
}

template <class T>
void Plan<T>::enqueue_inverse(Queue& queue, const Buffer& in, const Buffer& out) const {
  check_direction(false);
  enqueue(on_device_.get(), Direction::inverse, queue, in, out);
}

template <class T>
void Plan<T>::forward(std::span<const Complex> in, std::span<Complex> out) const {
  check_direction(true);
  if (transform_ && transform_->run_short(Direction::forward, in, out)) return;
  check_kind(problem(), Kind::complex, Samples::same, Direction::forward);
  with_transform(transform_, on_device_, [&](const auto& transform) {
    check(transform, Direction::forward, memory(in, sizeof(T)), transform.layout().samples.extent,
          memory(out, sizeof(T)), transform.layout().spectrum.extent);
    transform.run(Direction::forward, in.data(), out.data());
  });
}

template <class T>
void Plan<T>::inverse(std::span<const Complex> in, std::span<Complex> out) const {
  check_direction(false);
  if (transform_ && transform_->run_short(Direction::inverse, in, out)) return;
  check_kind(problem(), Kind::complex, Samples::same, Direction::inverse);
  with_transform(transform_, on_device_, [&](const auto& transform) {
    check(transform, Direction::inverse, memory(in, sizeof(T)), transform.layout().spectrum.extent,
          memory(out, sizeof(T)), transform.layout().samples.extent);
    transform.run(Direction::inverse, in.data(), out.data());
  });
}

template <class T>
void Plan<T>::forward(std::span<const Real> in, std::span<Complex> out) const {
  check_direction(true);
  if (transform_ && transform_->run_short(in, out)) return;
  check_kind(problem(), Kind::real, Samples::same, Direction::forward);
  with_transform(transform_, on_device_, [&](const auto& transform) {
    check(transform, Direction::forward, memory(in, sizeof(T)), transform.layout().samples.extent,
          memory(out, sizeof(T)), transform.layout().spectrum.extent);
    transform.run(Direction::forward, in.data(), out.data());
  });
}

template <class T>
void Plan<T>::inverse(std::span<const Complex> in, std::span<Real> out) const {
  check_direction(false);
  if (transform_ && transform_->run_short(in, out)) return;
  check_kind(problem(), Kind::real, Samples::same, Direction::inverse);
  with_transform(transform_, on_device_, [&](const auto& transform) {
    check(transform, Direction::inverse, memory(in, sizeof(T)), transform.layout().spectrum.extent,
          memory(out, sizeof(T)), transform.layout().samples.extent);
    transform.run(Direction::inverse, in.data(), out.data());
  });
}

template <class T>
void Plan<T>::forward(std::span<const std::int8_t> in, std::span<Complex> out) const {
  check_direction(true);
  with_transform(transform_, on_device_, [&](const auto& transform) {
    forward_integers(transform, memory(in, 1), memory(out, sizeof(T)), Samples::int8);
  });
}

template <class T>
void Plan<T>::forward(std::span<const std::int16_t> in, std::span<Complex> out) const {
  check_direction(true);
  with_transform(transform_, on_device_, [&](const auto& transform) {
    forward_integers(transform, memory(in, 2), memory(out, sizeof(T)), Samples::int16);
  });
}

template <class T>
std::size_t Plan<T>::input_size() const {
  const bool values = problem().load_forward.samples != Samples::same || problem().storage != Storage::same;
  const bool pairs = problem().kind == Kind::complex && values;
  return (pairs ? 2 : 1) *
         with_transform(transform_, on_device_, [](const auto& t) { return t.layout().samples.extent; });
}
template <class T>
std::size_t Plan<T>::output_size() const {
  return (problem().storage == Storage::same ? 1 : 2) *
         with_transform(transform_, on_device_, [](const auto& t) { return t.layout().spectrum.extent; });
}
template <class T>
double Plan<T>::flops() const {
  return with_transform(transform_, on_device_, [](const auto& t) { return usual_flops(t.problem()); });
}
template <class T>
double Plan<T>::bytes() const {
  return with_transform(transform_, on_device_, [](const auto& t) {
    return least_bytes(t.layout(), t.problem(), number_bytes(t.problem(), sizeof(T) == sizeof(double)));
  });
}
template <class T>
std::string Plan<T>::explain() const {
  return with_transform(transform_, on_device_, [](const auto& t) { return t.explain(); });
}
template <class T>
const std::vector<planner::Decision>& Plan<T>::decisions() const {
  return on_device_ ? on_device_->decisions() : transform_->decisions().all();
}
template <class T>
std::vector<KernelSource> Plan<T>::kernels() const {
  return on_device_ ? on_device_->kernels() : std::vector<KernelSource>();
}
template <class T>
const Problem& Plan<T>::problem() const {
  return on_device_ ? on_device_->problem() : transform_->problem();
}
template <class T>
const Device& Plan<T>::device() const {
  return on_device_ ? on_device_->device() : transform_->device();
}

template <class T>
std::vector<planner::Candidate> candidates(const Device& device, std::size_t n) {
  if (n == 0) refuse_call("needs axes of at least 1 point, got length 0");
  if (device.is_host()) return line_candidates<T>(n);
  constexpr std::uint64_t kManyPoints = std::uint64_t{1} << 26;
  on_device::AxisProblem problem;
  problem.float64 = sizeof(T) == sizeof(double);
  problem.length = n;
  problem.counts = {std::max<std::uint64_t>(kManyPoints / n, 1)};
  problem.in.line = problem.out.line = {n};
  std::vector<planner::Candidate> all;
  for (const on_device::Route& route : on_device::list_routes(device, problem)) all.push_back(route.candidate);
  return all;
}

template class Plan<float>;
template class Plan<double>;
template std::vector<planner::Candidate> candidates<float>(const Device&, std::size_t);
template std::vector<planner::Candidate> candidates<double>(const Device&, std::size_t);

}  // namespace ridge::fft
