// Whether two axes are done in one go: the part of transform.cpp that chooses.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "device/random.hpp"
#include "device/timing.hpp"
#include "fft/device/transform.hpp"
#include "fft/device/trials.hpp"
#include "fft/host/rounding.hpp"

namespace ridge::fft {
namespace {

using namespace on_device;

std::string key_of(const PlaneProblem& plane, bool in_place) {
  return fmt::format("fft device planes c{} {} {}x{} of {} from {}/{},{} to {}/{},{}{}", plane.float64 ? 64 : 32,
                     plane.direction == Direction::forward ? "forward" : "inverse", plane.rows, plane.columns,
                     fmt::join(plane.counts, "x"), plane.in_point, plane.in_row, fmt::join(plane.in_chunk, ","),
                     plane.out_point, plane.out_row, fmt::join(plane.out_chunk, ","), in_place ? " in place" : "");
}

// Two axes in one go, or one after the other.
class PlaneRun {
 public:
  using Compiled = std::shared_ptr<const CompiledRoute>;
  explicit PlaneRun(Compiled together) : first_(std::move(together)) {}
  PlaneRun(Compiled first, Compiled second) : first_(std::move(first)), second_(std::move(second)) {}
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const {
    first_->enqueue(queue, in, out);
    if (second_) second_->enqueue(queue, out, out);
  }
  const Compiled& route() const { return first_; }

 private:
  Compiled first_, second_;
};

// The axes one after the other are the reference: each was chosen, and compared, before.
class PlaneTrials final : public planner::Trials<PlaneRun> {
 public:
  PlaneTrials(const Device& device, std::size_t bytes, bool in_place, std::size_t points, bool float64,
              std::function<std::shared_ptr<const PlaneRun>()> reference)
      : device_(device),
        bytes_(bytes),
        in_place_(in_place),
        points_(points),
        float64_(float64),
        reference_(std::move(reference)) {}

  double seconds(const PlaneRun& run) override {
    make_arrays();
    return best_device_seconds(*queue_, {[&] { run.enqueue(*queue_, in_, out_); }}, kTrial).front();
  }

  planner::Comparison compare(const PlaneRun& run) override {
    make_arrays();
    if (expected_.empty()) {
      input_.resize(bytes_);
      fill_random(std::span(input_), float64_ ? Numbers::float64 : Numbers::float32, 2);
      expected_ = answer_of(*reference_());
    }
    const std::vector<std::byte> answer = answer_of(run);
    return float64_ ? judged<double>(answer) : judged<float>(answer);
  }

 private:
  void make_arrays() {
    if (queue_) return;
    queue_ = device_.queue();
    in_ = device_.buffer(bytes_, {.name = "fft trial input"});
    out_ = in_place_ ? in_ : device_.buffer(bytes_, {.name = "fft trial output"});
    fill_random(*queue_, in_, float64_ ? Numbers::float64 : Numbers::float32);
  }

  std::vector<std::byte> answer_of(const PlaneRun& run) {
    queue_->upload(input_.data(), in_, bytes_);
    if (!in_place_) queue_->fill(out_, std::byte{0xff});
    run.enqueue(*queue_, in_, out_);
    std::vector<std::byte> answer(bytes_);
    queue_->download(out_, answer.data(), bytes_);
    queue_->finish();
    return answer;
  }

  template <class T>
  planner::Comparison judged(const std::vector<std::byte>& answer) const {
    const auto numbers = [](const std::vector<std::byte>& bytes) {
      return std::span(reinterpret_cast<const T*>(bytes.data()), bytes.size() / sizeof(T));
    };
    return planner::compare(numbers(answer), numbers(expected_), 2 * largest_rounding(points_, float64_));
  }

  Device device_;
  std::size_t bytes_;
  bool in_place_;
  std::size_t points_;
  bool float64_;
  std::function<std::shared_ptr<const PlaneRun>()> reference_;
  std::optional<Queue> queue_;
  Buffer in_, out_;
  std::vector<std::byte> input_, expected_;
};

}  // namespace

template <class T>
std::optional<PlaneProblem> DeviceTransform<T>::plane_problem(Direction direction) const {
  const bool forward = direction == Direction::forward;
  const std::size_t axes = layout_.axes;
  const Side& in = forward ? layout_.samples : layout_.spectrum;
  const Side& out = forward ? layout_.spectrum : layout_.samples;
  if (problem_.storage != Storage::same) return {};
  if (problem_.kind != Kind::complex || axes < 2 || in.shape[axes - 1] == 1 || in.shape[axes - 2] == 1) return {};
  const EndOperators at_the_ends = end_operators(direction);
  if (at_the_ends.samples != Samples::same || at_the_ends.load.kind() != FactorKind::none ||
      at_the_ends.store.kind() != FactorKind::none) {
    return {};
  }
  PlaneProblem plane{.float64 = sizeof(T) == sizeof(double),
                     .direction = direction,
                     .rows = in.shape[axes - 2],
                     .columns = in.shape[axes - 1],
                     .in_point = in.strides[axes - 1],
                     .out_point = out.strides[axes - 1],
                     .in_row = in.strides[axes - 2],
                     .out_row = out.strides[axes - 2]};
  bool last = true;
  for (std::size_t axis = axes - 2; axis-- > 0;) {
    if (in.shape[axis] == 1) continue;
    last = false;
    plane.counts.push_back(in.shape[axis]);
    plane.in_chunk.push_back(in.strides[axis]);
    plane.out_chunk.push_back(out.strides[axis]);
  }
  plane.counts.push_back(problem_.batch);
  plane.in_chunk.push_back(in.batch);
  plane.out_chunk.push_back(out.batch);
  if (last) plane.scale = at_the_ends.scale;
  return plane;
}

template <class T>
bool DeviceTransform<T>::choose_plane(const std::vector<PlannedAxis>& there, const std::vector<PlannedAxis>& back,
                                      const planner::Options& options) {
  const std::optional<PlaneProblem> plane = plane_problem(Direction::forward);
  if (!plane || there.size() < 2) return false;
  if (!options.variant.empty() && !options.variant.starts_with("plane")) return false;
  const std::vector<Route> routes = list_planes(device_, *plane);
  if (!routes.front().candidate.refusal.empty()) return false;
  const double bytes = plane_bytes(*plane);
  using Entry = planner::Entry<PlaneRun>;
  std::vector<Entry> entries;
  for (const Route& route : routes) {
    entries.push_back(Entry{.candidate = route.candidate,
                            .kernels = [&] { return kernels_of(route); },
                            .build =
                                [&] {
                                  return std::make_shared<const PlaneRun>(
                                      std::make_shared<const CompiledRoute>(device_, route, plane->float64));
                                }});
  }
  const auto axis_by_axis = [&] { return std::make_shared<const PlaneRun>(forward_[0].route, forward_[1].route); };
  entries.push_back(
      Entry{.candidate = {.variant = "axis_by_axis",
                          .cost = {.bytes = 2 * bytes, .launches = 2, .efficiency = 0.9, .float64 = plane->float64}},
            .build = axis_by_axis});
  const std::size_t array = std::max(bytes_of(Direction::forward, true), bytes_of(Direction::forward, false));
  PlaneTrials trials(device_, array, problem_.in_place, plane->rows * plane->columns, plane->float64, axis_by_axis);
  auto chosen = planner::choose(device_, {.workload = "fft", .key = key_of(*plane, problem_.in_place), .bytes = bytes},
                                entries, options, trials, planner::Keep::last);
  const std::size_t winner = chosen.decision.winner;
  decisions_.push_back(std::move(chosen.decision));
  if (winner == routes.size()) return false;

  const auto together = [&](std::vector<Stage>& stages, const Route& route, const std::vector<PlannedAxis>& planned) {
    stages.erase(stages.begin(), stages.begin() + static_cast<std::ptrdiff_t>(stages.empty() ? 0 : 2));
    stages.insert(stages.begin(), Stage{std::make_shared<const CompiledRoute>(device_, route, plane->float64),
                                        planned[0].from, planned[1].to, planned[0].axis});
  };
  if (!back.empty()) {
    const std::optional<PlaneProblem> other = plane_problem(Direction::inverse);
    if (!other) return false;
    for (const Route& route : list_planes(device_, *other)) {
      if (route.candidate.refusal.empty() && route.candidate.name() == routes[winner].candidate.name()) {
        together(inverse_, route, back);
      }
    }
    if (inverse_.empty()) return false;
  }
  together(forward_, routes[winner], there);
  return true;
}

}  // namespace ridge::fft
