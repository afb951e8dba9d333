// Real-to-real transforms over several axes on a device: the last axis from the input to the output, the others in
// place there. Factors of the first and last values along axes (adjoints, orthogonal transforms) multiply the output
// before and after that; factors of the input need a copy of it.
#include <algorithm>
#include <cmath>
#include <mutex>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/fft/device_tensor.hpp>

#include "base/text.hpp"
#include "device/staging.hpp"
#include "fft/device/real_to_real/real_axis.hpp"
#include "fft/device/rearrange.hpp"
#include "fft/tensor/dimensions.hpp"
#include "plan/arguments.hpp"

namespace ridge::fft {
namespace {

using on_device::Address;
using on_device::RealAxis;
using on_device::RealAxisProblem;

[[noreturn]] void refuse(const std::string& what) { throw Error(ErrorKind::invalid_argument, "fft: " + what); }

void check(const TensorProblem& problem) {
  if (problem.kind != TensorKind::real_to_real) refuse("a tensor plan on a device needs TensorKind::real_to_real");
  if (problem.axes.empty() || problem.axes.size() > 3) {
    refuse(fmt::format("a device needs one to three axes, got {}", problem.axes.size()));
  }
  if (problem.real_kinds.size() != problem.axes.size()) refuse("needs one real kind per axis");
  for (std::size_t i = 0; i < problem.axes.size(); ++i) {
    const std::size_t least = problem.real_kinds[i] == RealKind::dct1 ? 2 : 1;
    if (problem.axes[i].length < least) {
      refuse(fmt::format("{} does not exist for {} points", to_string(problem.real_kinds[i]), problem.axes[i].length));
    }
  }
  std::vector<Dimension> all = problem.axes;
  all.insert(all.end(), problem.loops.begin(), problem.loops.end());
  for (const Dimension& d : all) {
    if (d.input < 0 || d.output < 0) refuse("a device needs strides of at least 0, got a negative one");
    if (problem.in_place && d.input != d.output)
      refuse("in place, a device needs the same strides in input and output");
  }
  if (shares_elements(all, TensorSide::output)) refuse("the output's strides make two points share an element");
}

// Factors of the first and last value along an axis of a packed array.
struct Ends {
  std::size_t axis;
  double first, last;
};

[[noreturn]] void refuse_factors(const char* needs) {
  throw Error(ErrorKind::unavailable, fmt::format("fft: load and store factors on a device need {}; "
                                                  "other problems run on the host only",
                                                  needs));
}

// The order of the dimensions in memory, slowest first.
std::vector<std::size_t> packed_order(const std::vector<Dimension>& all) {
  std::vector<std::size_t> order(all.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(all[a].input, all[a].length) > std::pair(all[b].input, all[b].length);
  });
  std::ptrdiff_t stride = 1;
  for (std::size_t i = order.size(); i-- > 0;) {
    const Dimension& d = all[order[i]];
    if (d.input != d.output || (d.length > 1 && d.input != stride)) refuse_factors("packed arrays of the same strides");
    stride *= static_cast<std::ptrdiff_t>(d.length);
  }
  return order;
}

// The factors per axis of the problem as ends along the axes in memory.
std::vector<Ends> ends_of(const std::vector<std::vector<double>>& factors, const std::vector<std::size_t>& order) {
  std::vector<Ends> ends;
  for (std::size_t i = 0; i < factors.size(); ++i) {
    const std::vector<double>& list = factors[i];
    if (list.empty()) continue;
    for (std::size_t k = 1; k + 1 < list.size(); ++k) {
      if (list[k] != 1) refuse_factors("factors of 1 but for the first and the last value");
    }
    const auto at = static_cast<std::size_t>(std::find(order.begin(), order.end(), i) - order.begin());
    ends.push_back({at, list.front(), list.size() > 1 ? list.back() : 1.0});
  }
  return ends;
}

}  // namespace

template <class T>
class DeviceTensor {
 public:
  DeviceTensor(const Device& device, const TensorProblem& problem, const planner::Options& options)
      : device_(device), problem_(problem), staging_(device, "real to real") {
    check(problem);
    if (sizeof(T) == sizeof(double) && !device.limits().float64) {
      throw Error(ErrorKind::unavailable, fmt::format("fft: {} has no double precision", device.id()));
    }
    std::vector<Dimension> all = problem.axes;
    all.insert(all.end(), problem.loops.begin(), problem.loops.end());
    points_ = count(all);
    if (points_ == 0) return;
    if (!problem.load.empty() || !problem.store.empty()) {
      const std::vector<std::size_t> order = packed_order(all);
      for (const std::size_t i : order) packed_shape_.push_back(all[i].length);
      load_ = ends_of(problem.load, order), store_ = ends_of(problem.store, order);
      scaler_.emplace(device, on_device::ElementChange{sizeof(T) == sizeof(double), false, false, false});
    }
    in_elements_ = static_cast<std::size_t>(reach(all, TensorSide::input).high) + 1;
    out_elements_ = static_cast<std::size_t>(reach(all, TensorSide::output).high) + 1;
    for (std::size_t axis = problem.axes.size(); axis-- > 0;) {
      const bool first = axis + 1 == problem.axes.size();
      axes_.push_back(
          std::make_unique<RealAxis>(device, axis_problem(all, axis, first, axis == 0), options, decisions_));
    }
    std::size_t before = 0, after = 0;
    for (const auto& axis : axes_) {
      before = std::max(before, axis->bytes_before());
      after = std::max(after, axis->bytes_after());
    }
    if (before > 0) before_ = device.buffer(before, {.name = "real to real, before"});
    if (after > 0) after_ = device.buffer(after, {.name = "real to real, after"});
  }

  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const {
    if (points_ == 0) return;
    planner::check_buffer("fft", "input", in, device_, in_elements_ * sizeof(T));
    planner::check_buffer("fft", "output", out, device_, out_elements_ * sizeof(T));
    if (problem_.in_place != (in.native() == out.native())) {
      refuse(problem_.in_place ? "two buffers given to a plan that is in place"
                               : "one buffer given twice to a plan that is not in place");
    }
    // The plan has one work area: another queue waits for its last use.
    std::lock_guard lock(mutex_);
    if (last_ && last_queue_ != queue.native()) queue.wait_for(last_);
    const bool apart = !problem_.in_place && load_.empty();
    if (!apart && !problem_.in_place) queue.copy(in, out, points_ * sizeof(T));
    scale(queue, load_, out);
    for (std::size_t i = 0; i < axes_.size(); ++i) {
      axes_[i]->enqueue(queue, i == 0 && apart ? in : out, 0, out, 0, before_, after_);
    }
    scale(queue, store_, out);
    last_ = queue.record();
    last_queue_ = queue.native();
  }

  void run(std::span<const T> in, std::span<T> out) const {
    if (points_ == 0) return;
    if (in.size() < in_elements_ || out.size() < out_elements_) {
      refuse(fmt::format("the arrays have {} and {} elements, this plan needs {} and {}", in.size(), out.size(),
                         in_elements_, out_elements_));
    }
    staging_.run({.in = in.data(),
                  .in_bytes = in_elements_ * sizeof(T),
                  .out = out.data(),
                  .out_bytes = out_elements_ * sizeof(T),
                  .in_place = problem_.in_place,
                  .output_first = !problem_.in_place && out_elements_ != points_},
                 [&](Queue& queue, const Buffer& from, const Buffer& to) { enqueue(queue, from, to); });
  }

  double flops() const {
    double flops = 0;
    for (const Dimension& axis : problem_.axes) {
      flops += 2.5 * static_cast<double>(points_) * std::log2(std::max<double>(2, static_cast<double>(axis.length)));
    }
    return flops;
  }
  double bytes() const { return 2.0 * static_cast<double>(points_) * sizeof(T); }

  std::string explain() const {
    std::string text = fmt::format("real to real of {} points in {} on {}\n", points_,
                                   sizeof(T) == sizeof(float) ? "float" : "double", device_.id());
    for (const auto& axis : axes_) text += fmt::format("  {}\n", axis->describe());
    text += fmt::format("  {:.4g} flops by the conventional count; at least {} moved\n", flops(),
                        base::human_bytes(bytes()));
    for (const planner::Decision& decision : decisions_) text += decision.explain();
    return text;
  }

  std::vector<KernelSource> kernels() const {
    std::vector<KernelSource> all;
    for (const auto& axis : axes_) on_device::add_to(all, axis->kernels());
    if (scaler_) all.push_back(on_device::rearrange_text({sizeof(T) == sizeof(double), false, false, false}));
    return all;
  }

  const Device device_;
  const TensorProblem problem_;
  std::vector<planner::Decision> decisions_;

 private:
  void scale(Queue& queue, const std::vector<Ends>& ends, const Buffer& data) const {
    for (const Ends& e : ends) scaler_->scale_ends(queue, packed_shape_, e.axis, e.first, e.last, data);
  }

  RealAxisProblem axis_problem(const std::vector<Dimension>& all, std::size_t axis, bool first, bool last) const {
    RealAxisProblem result{.float64 = sizeof(T) == sizeof(double),
                           .kind = problem_.real_kinds[axis],
                           .length = all[axis].length,
                           .counts = {},
                           .scale = last ? problem_.scale : 1,
                           .in_place = !first || problem_.in_place || !load_.empty()};
    const auto input = [&](const Dimension& d) { return static_cast<std::uint64_t>(first ? d.input : d.output); };
    result.in.point = input(all[axis]);
    result.out.point = static_cast<std::uint64_t>(all[axis].output);
    std::vector<Dimension> others;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i != axis && all[i].length > 1) others.push_back(all[i]);
    }
    std::stable_sort(others.begin(), others.end(),
                     [&](const Dimension& a, const Dimension& b) { return input(a) < input(b); });
    if (others.empty()) others.push_back({1, 0, 0});
    for (const Dimension& d : others) {
      result.counts.push_back(d.length);
      result.in.line.push_back(input(d));
      result.out.line.push_back(static_cast<std::uint64_t>(d.output));
    }
    return result;
  }

  std::size_t points_ = 0, in_elements_ = 0, out_elements_ = 0;
  std::vector<std::uint64_t> packed_shape_;  // with factors: lengths in memory, slowest first
  std::vector<Ends> load_, store_;
  std::optional<on_device::Rearranger> scaler_;
  std::vector<std::unique_ptr<const RealAxis>> axes_;  // in the order of execution
  Buffer before_, after_;
  Staging staging_;
  mutable std::mutex mutex_;
  mutable Event last_;
  mutable std::uintptr_t last_queue_ = 0;
};

template <class T>
DeviceTensorPlan<T>::DeviceTensorPlan(const Device& device, const TensorProblem& problem,
                                      const planner::Options& options)
    : tensor_(std::make_shared<const DeviceTensor<T>>(device, problem, options)) {}
template <class T>
void DeviceTensorPlan<T>::enqueue(Queue& queue, const Buffer& in, const Buffer& out) const {
  tensor_->enqueue(queue, in, out);
}
template <class T>
void DeviceTensorPlan<T>::run(std::span<const T> in, std::span<T> out) const {
  tensor_->run(in, out);
}
template <class T>
const TensorProblem& DeviceTensorPlan<T>::problem() const {
  return tensor_->problem_;
}
template <class T>
const Device& DeviceTensorPlan<T>::device() const {
  return tensor_->device_;
}
template <class T>
double DeviceTensorPlan<T>::flops() const {
  return tensor_->flops();
}
template <class T>
double DeviceTensorPlan<T>::bytes() const {
  return tensor_->bytes();
}
template <class T>
std::string DeviceTensorPlan<T>::explain() const {
  return tensor_->explain();
}
template <class T>
const std::vector<planner::Decision>& DeviceTensorPlan<T>::decisions() const {
  return tensor_->decisions_;
}
template <class T>
std::vector<KernelSource> DeviceTensorPlan<T>::kernels() const {
  return tensor_->kernels();
}

template class DeviceTensorPlan<float>;
template class DeviceTensorPlan<double>;

}  // namespace ridge::fft
