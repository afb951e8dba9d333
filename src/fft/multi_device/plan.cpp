// Plan of a batch that the host and devices transform together.
#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <ridge/fft/hybrid.hpp>
#include <ridge/machine.hpp>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "fft/multi_device/workers.hpp"

namespace ridge::fft {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::invalid_argument, "hybrid fft: " + why); }

void check(const std::vector<Device>& devices, const Problem& problem) {
  if (devices.empty()) refuse("needs at least one device, got none");
  std::set<std::string> seen;
  for (const Device& device : devices) {
    if (!seen.insert(device.id()).second) refuse(device.id() + " was given twice: name each device once");
  }
  if (problem.in_place) refuse("needs separate input and output arrays, got an in-place problem");
  if (problem.load_forward.samples != Samples::same) refuse("needs samples of the plan's own type, got integers");
  const Layout layout = resolve(problem);
  for (const Side* side : {&layout.samples, &layout.spectrum}) {
    std::size_t reach = 1, points = 1;
    for (std::size_t axis = 0; axis < kMostAxes; ++axis) {
      reach += (side->shape[axis] - 1) * side->strides[axis];
      points *= side->shape[axis];
    }
    if (problem.batch > 1 && side->batch < reach)
      refuse("needs a batch stride of at least one transform: interleaved transforms are not supported");
    // Blocks are copied as a whole: values in gaps would be overwritten.
    if (reach != points || (problem.batch > 1 && side->batch != reach))
      refuse("needs contiguous transforms without gaps");
  }
}

// Buffers for measurements, pinned by the first device that supports it.
class TrialMemory {
 public:
  TrialMemory(const std::vector<Device>& devices, CallersMemory memory, std::size_t bytes) {
    if (memory == CallersMemory::pinned) {
      for (const Device& device : devices) {
        if (device.is_host()) continue;
        buffer_ = device.buffer(bytes, {.kind = MemoryKind::pinned, .name = "hybrid trial"});
        mapping_.emplace(buffer_.map());
        data_ = mapping_->data();
        break;
      }
    }
    if (data_ == nullptr) {
      plain_ = base::AlignedArray<std::byte>(bytes);
      data_ = plain_.data();
    }
    std::fill_n(data_, bytes, std::byte{0});  // touches every page; zeros are valid inputs
  }
  std::byte* data() const { return data_; }

 private:
  Buffer buffer_;
  std::optional<Mapping> mapping_;
  base::AlignedArray<std::byte> plain_;
  std::byte* data_ = nullptr;
};

}  // namespace

template <class T>
struct HybridPlan<T>::State {
  State(const std::vector<Device>& devices_, const Problem& problem_, const HybridOptions& options)
      : devices(devices_), problem(problem_) {
    check(devices, problem);
    layout = resolve(problem);
    samples = layout.samples.extent * (problem.kind == Kind::real ? 1 : 2);
    spectrum = layout.spectrum.extent * 2;
    bool copies = false;
    for (const Device& device : devices) {
      workers.add(
          device.id(), device.is_host(),
          device.is_host() ? host_worker<T>(device, problem, options) : device_worker<T>(device, problem, options));
      copies |= copies_through_staging(device, options);
    }
    const std::size_t most = base::hardware_threads();
    const std::size_t asked = options.cores > 0 ? options.cores : problem.threads;
    const std::size_t cores = asked > 0 ? std::min(asked, most) : most;
    const TrialMemory in(devices, options.memory, samples * sizeof(T));
    const TrialMemory out(devices, options.memory, spectrum * sizeof(T));
    division = decide(workers, problem.batch, cores, copies, in.data(), out.data(), options.seconds);
    for (std::size_t i = 0; i < workers.size(); ++i) {
      shares.push_back({.device = workers.device(i),
                        .transforms = division.sharing.transforms[i],
                        .cores = division.sharing.transforms[i] > 0 ? division.sharing.cores[i] : 0,
                        .seconds = division.seconds[i],
                        .alone_seconds = division.alone[i],
                        .rate = division.rates[i]});
    }
  }

  double ideal() const {
    return static_cast<double>(problem.batch) / std::accumulate(division.rates.begin(), division.rates.end(), 0.0);
  }

  std::vector<Device> devices;
  Problem problem;
  Layout layout;
  std::size_t samples = 0, spectrum = 0;  // numbers of the whole batch
  Workers workers;
  Division division;
  std::vector<HybridShare> shares;
  std::mutex busy;

  void checked_run(Direction direction, const void* in, std::size_t in_numbers, void* out, std::size_t out_numbers) {
    const std::size_t need_in = direction == Direction::forward ? samples : spectrum;
    const std::size_t need_out = direction == Direction::forward ? spectrum : samples;
    if (in_numbers < need_in || out_numbers < need_out) {
      refuse(fmt::format("the batch needs {} input and {} output numbers, the arrays have {} and {}", need_in, need_out,
                         in_numbers, out_numbers));
    }
    const auto* from = static_cast<const std::byte*>(in);
    auto* to = static_cast<std::byte*>(out);
    if (from < to + need_out * sizeof(T) && to < from + need_in * sizeof(T)) refuse("input and output overlap");
    std::lock_guard lock(busy);
    workers.run(direction, from, to);
  }
  void expect(Kind kind) const {
    if (problem.kind != kind)
      refuse(kind == Kind::real ? "this plan is complex: pass complex arrays" : "this plan is real: pass real samples");
  }
};

template <class T>
HybridPlan<T>::HybridPlan(const std::vector<Device>& devices, const Problem& problem, const HybridOptions& options)
    : state_(std::make_shared<State>(devices, problem, options)) {}

template <class T>
void HybridPlan<T>::forward(std::span<const Complex> in, std::span<Complex> out) const {
  state_->expect(Kind::complex);
  state_->checked_run(Direction::forward, in.data(), 2 * in.size(), out.data(), 2 * out.size());
}
template <class T>
void HybridPlan<T>::inverse(std::span<const Complex> in, std::span<Complex> out) const {
  state_->expect(Kind::complex);
  state_->checked_run(Direction::inverse, in.data(), 2 * in.size(), out.data(), 2 * out.size());
}
template <class T>
void HybridPlan<T>::forward(std::span<const T> in, std::span<Complex> out) const {
  state_->expect(Kind::real);
  state_->checked_run(Direction::forward, in.data(), in.size(), out.data(), 2 * out.size());
}
template <class T>
void HybridPlan<T>::inverse(std::span<const Complex> in, std::span<T> out) const {
  state_->expect(Kind::real);
  state_->checked_run(Direction::inverse, in.data(), 2 * in.size(), out.data(), out.size());
}

template <class T>
const Problem& HybridPlan<T>::problem() const {
  return state_->problem;
}
template <class T>
const std::vector<Device>& HybridPlan<T>::devices() const {
  return state_->devices;
}
template <class T>
double HybridPlan<T>::flops() const {
  return usual_flops(state_->problem);
}
template <class T>
double HybridPlan<T>::bytes() const {
  return least_bytes(state_->layout, state_->problem, sizeof(T));
}
template <class T>
const std::vector<HybridShare>& HybridPlan<T>::shares() const {
  return state_->shares;
}
template <class T>
double HybridPlan<T>::seconds() const {
  return state_->division.median;
}
template <class T>
double HybridPlan<T>::best_seconds() const {
  return state_->division.best;
}
template <class T>
double HybridPlan<T>::ideal_seconds() const {
  return state_->ideal();
}

template <class T>
std::string HybridPlan<T>::explain() const {
  std::vector<std::vector<std::string>> rows{
      {"device", "transforms", "host cores", "time of share", "transforms/s, concurrent", "whole batch alone"}};
  for (const HybridShare& share : state_->shares) {
    const bool works = share.transforms > 0;
    rows.push_back({share.device, fmt::format("{}", share.transforms), fmt::format("{}", share.cores),
                    works ? base::human_seconds(share.seconds) : "-", works ? fmt::format("{:.0f}", share.rate) : "-",
                    base::human_seconds(share.alone_seconds)});
  }
  return fmt::format(
      "fft {} batch {} over {} devices: {} (best {}); the sum of the concurrent rates allows {}: "
      "fraction {:.2f} (best {:.2f})\n{}",
      shape_text(state_->problem), state_->problem.batch, state_->shares.size(), base::human_seconds(seconds()),
      base::human_seconds(best_seconds()), base::human_seconds(ideal_seconds()), ideal_seconds() / seconds(),
      ideal_seconds() / best_seconds(), base::table(rows));
}

template class HybridPlan<float>;
template class HybridPlan<double>;

}  // namespace ridge::fft
