#include <algorithm>
#include <numeric>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <ridge/fft_hybrid.hpp>
#include <ridge/machine.hpp>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "base/text.hpp"
#include "fft/hybrid/crew.hpp"
#include "fft/hybrid/lane.hpp"

namespace ridge::fft {
namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::invalid_argument, "hybrid fft: " + why); }

void check(const std::vector<Device>& devices, const Problem& problem) {
  if (devices.empty()) refuse("no device was given");
  std::set<std::string> seen;
  for (const Device& device : devices) {
    if (!seen.insert(device.id()).second) refuse(device.id() + " was given twice");
  }
  if (problem.in_place) refuse("works out of place");
  if (problem.load_forward.samples != Samples::same) refuse("takes samples of the plan's own type");
  const Layout layout = resolve(problem);
  for (const Side* side : {&layout.samples, &layout.spectrum}) {
    std::size_t reach = 1;
    for (std::size_t axis = 0; axis < kMostAxes; ++axis) reach += (side->shape[axis] - 1) * side->strides[axis];
    if (problem.batch > 1 && side->batch < reach) refuse("transforms of the batch must not be woven into one another");
  }
}

// Memory to measure in: pinned by the first device that can.
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
    std::fill_n(data_, bytes, std::byte{0});  // touched, and zeros are numbers
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
  State(const std::vector<Device>& devices, const Problem& problem_, const HybridOptions& options)
      : problem(problem_), crew(devices.size()) {
    check(devices, problem);
    const Layout layout = resolve(problem);
    samples = layout.samples.extent * (problem.kind == Kind::real ? 1 : 2);
    spectrum = layout.spectrum.extent * 2;
    for (const Device& device : devices) {
      lanes.push_back(device.is_host() ? host_lane<T>(device, problem, options.planning)
                                       : device_lane<T>(device, problem, options.planning));
      shares.push_back({.device = device.id()});
    }
    const TrialMemory in(devices, options.memory, samples * sizeof(T));
    const TrialMemory out(devices, options.memory, spectrum * sizeof(T));
    decide(in.data(), out.data(), options.seconds);
  }

  void assign(const std::vector<std::uint64_t>& counts) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      shares[i].transforms = counts[i];
      lanes[i]->assign(counts[i]);
    }
  }

  // Seconds of each lane, and of the whole run last.
  std::vector<double> run(Direction direction, const std::byte* in, std::byte* out) {
    std::vector<double> seconds(lanes.size() + 1);
    std::vector<std::size_t> first(lanes.size(), 0);
    for (std::size_t i = 1; i < lanes.size(); ++i) first[i] = first[i - 1] + shares[i - 1].transforms;
    const double start = base::now();
    crew.run([&](std::size_t i) {
      lanes[i]->run(direction, in, out, first[i]);
      seconds[i] = base::now() - start;
    });
    seconds.back() = base::now() - start;
    return seconds;
  }

  // The least of a few runs, the first of which is cold.
  std::vector<double> best_run(const std::byte* in, std::byte* out, double budget) {
    run(Direction::forward, in, out);
    std::vector<double> best;
    const double start = base::now();
    for (int i = 0; i < 3 || (i < 50 && base::now() - start < budget); ++i) {
      const auto seconds = run(Direction::forward, in, out);
      if (best.empty() || seconds.back() < best.back()) best = seconds;
    }
    return best;
  }

  // Alone, then together with shares in proportion, corrected by what each lane took while the others ran.
  void decide(const std::byte* in, std::byte* out, double budget) {
    const std::uint64_t batch = problem.batch;
    std::vector<std::uint64_t> best(lanes.size(), 0);
    std::vector<double> seconds_an_item(lanes.size());
    const double part = budget / static_cast<double>(lanes.size() + kCorrections);
    const auto keep = [&](const std::vector<std::uint64_t>& counts, const std::vector<double>& took) {
      if (total > 0 && took.back() >= total) return;
      total = took.back();
      best = counts;
      for (std::size_t i = 0; i < lanes.size(); ++i) shares[i].seconds = counts[i] > 0 ? took[i] : 0;
    };
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      std::vector<std::uint64_t> all(lanes.size(), 0);
      all[i] = batch;
      assign(all);
      const auto took = best_run(in, out, part);
      shares[i].alone_seconds = took.back();
      seconds_an_item[i] = took.back() / static_cast<double>(batch);
      keep(all, took);
    }
    for (int round = 0; lanes.size() > 1 && round < kCorrections; ++round) {
      std::vector<machine::Worker> workers;
      for (std::size_t i = 0; i < lanes.size(); ++i) {
        workers.push_back({.name = shares[i].device, .seconds_per_item = seconds_an_item[i]});
      }
      const auto counts = machine::split(workers, batch).items;
      assign(counts);
      const auto took = best_run(in, out, part);
      double rate = 0;
      for (std::size_t i = 0; i < lanes.size(); ++i) {
        if (counts[i] > 0) seconds_an_item[i] = took[i] / static_cast<double>(counts[i]);
        rate += 1 / seconds_an_item[i];
      }
      if (total == 0 || took.back() < total) ideal = static_cast<double>(batch) / rate;
      keep(counts, took);
    }
    if (ideal == 0) ideal = total;
    assign(best);
  }

  static constexpr int kCorrections = 4;

  Problem problem;
  std::size_t samples = 0, spectrum = 0;  // numbers of the whole batch
  std::vector<std::unique_ptr<Lane>> lanes;
  std::vector<HybridShare> shares;
  double total = 0, ideal = 0;
  Crew crew;
  std::mutex busy;

  void checked_run(Direction direction, const void* in, std::size_t in_numbers, void* out, std::size_t out_numbers) {
    const std::size_t need_in = direction == Direction::forward ? samples : spectrum;
    const std::size_t need_out = direction == Direction::forward ? spectrum : samples;
    if (in_numbers < need_in || out_numbers < need_out) {
      refuse(fmt::format("the batch has {} numbers in and {} out; the arrays have {} and {}", need_in, need_out,
                         in_numbers, out_numbers));
    }
    const auto* from = static_cast<const std::byte*>(in);
    auto* to = static_cast<std::byte*>(out);
    if (from < to + need_out * sizeof(T) && to < from + need_in * sizeof(T)) refuse("input and output overlap");
    std::lock_guard lock(busy);
    run(direction, from, to);
  }
  void expect(Kind kind) const {
    if (problem.kind != kind) refuse(kind == Kind::real ? "this plan is complex" : "this plan is real");
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
const std::vector<HybridShare>& HybridPlan<T>::shares() const {
  return state_->shares;
}
template <class T>
double HybridPlan<T>::seconds() const {
  return state_->total;
}
template <class T>
double HybridPlan<T>::ideal_seconds() const {
  return state_->ideal;
}

template <class T>
std::string HybridPlan<T>::explain() const {
  std::vector<std::vector<std::string>> rows{{"device", "transforms", "its share takes", "the batch alone"}};
  for (const HybridShare& share : state_->shares) {
    rows.push_back({share.device, fmt::format("{}", share.transforms),
                    share.transforms > 0 ? base::human_seconds(share.seconds) : "-",
                    base::human_seconds(share.alone_seconds)});
  }
  return fmt::format("fft {} batch {} over {} devices: {}, {:.2f} of the sum of their rates together\n{}",
                     shape_text(state_->problem), state_->problem.batch, state_->shares.size(),
                     base::human_seconds(state_->total), state_->ideal / state_->total, base::table(rows));
}

template class HybridPlan<float>;
template class HybridPlan<double>;

}  // namespace ridge::fft
