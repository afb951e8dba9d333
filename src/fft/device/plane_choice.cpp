// Decides whether two axes are transformed in one launch.
#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "device/random.hpp"
#include "device/timing.hpp"
#include "fft/device/answers.hpp"
#include "fft/device/transform.hpp"
#include "fft/device/trials.hpp"
#include "fft/host/rounding.hpp"

namespace ridge::fft {
namespace {

using namespace on_device;

std::string key_of(const PlaneProblem& plane, bool in_place) {
  return fmt::format("fft device planes {}{} {} {}x{} of {} from {}/{},{} to {}/{},{}{}", plane.real ? "r" : "c",
                     plane.float64 ? 64 : 32, plane.direction == Direction::forward ? "forward" : "inverse", plane.rows,
                     plane.columns, fmt::join(plane.counts, "x"), plane.in_point, plane.in_row,
                     fmt::join(plane.in_chunk, ","), plane.out_point, plane.out_row, fmt::join(plane.out_chunk, ","),
                     in_place ? " in place" : "");
}

// The two alternatives: two axes in one launch, or one after another.
class PlaneRun {
 public:
  using Compiled = std::shared_ptr<const CompiledRoute>;
  // Location of the intermediate data: the output, the input, or a separate array.
  enum class Between { out, in, own };
  explicit PlaneRun(Compiled together) : first_(std::move(together)) {}
  PlaneRun(Compiled first, Compiled second, Between between, Buffer own)
      : first_(std::move(first)), second_(std::move(second)), between_(between), own_(std::move(own)) {}
  void enqueue(Queue& queue, const Buffer& in, const Buffer& out) const {
    if (!second_) return first_->enqueue(queue, in, out);
    const Buffer& between = between_ == Between::out ? out : between_ == Between::in ? in : own_;
    first_->enqueue(queue, in, between);
    second_->enqueue(queue, between, out);
  }

 private:
  Compiled first_, second_;
  Between between_ = Between::out;
  Buffer own_;
};

// The two separate axes are the reference: each was chosen and compared before.
class PlaneTrials final : public planner::Trials<PlaneRun> {
 public:
  PlaneTrials(const Device& device, std::size_t in_bytes, std::size_t out_bytes, bool in_place, bool gaps,
              std::size_t points, bool float64, std::function<std::shared_ptr<const PlaneRun>()> reference)
      : device_(device),
        bytes_(std::max(in_bytes, out_bytes)),
        out_bytes_(out_bytes),
        in_place_(in_place),
        gaps_(gaps),
        points_(points),
        float64_(float64),
        reference_(std::move(reference)) {}

  double seconds(const PlaneRun& run) override {
    make_arrays();
    return best_device_seconds(*queue_, {[&] { run.enqueue(*queue_, in_, out_); }}, kTrial).front();
  }

  planner::Comparison compare(const PlaneRun& run) override {
    make_arrays();
    const double allowed = 2 * largest_rounding(points_, float64_);
    if (!expected_) {
      answer(*reference_());
      expected_ = device_.buffer(out_bytes_, {.name = "fft trial expected"});
      queue_->copy(out_, expected_, out_bytes_);
    }
    answer(run);
    return compare_arrays(*queue_, out_, expected_, out_bytes_, float64_, allowed);
  }

 private:
  void make_arrays() {
    if (queue_) return;
    queue_ = device_.queue();
    in_ = device_.buffer(bytes_, {.name = "fft trial input"});
    out_ = in_place_ ? in_ : device_.buffer(bytes_, {.name = "fft trial output"});
    fill_random(*queue_, in_, float64_ ? Numbers::float64 : Numbers::float32);
  }

  void answer(const PlaneRun& run) {
    fill_random(*queue_, in_, float64_ ? Numbers::float64 : Numbers::float32, 2);
    // NaN marks elements that were not stored; arrays with gaps always keep some.
    if (!in_place_) queue_->fill(out_, gaps_ ? std::byte{0x3f} : std::byte{0xff});
    run.enqueue(*queue_, in_, out_);
  }

  Device device_;
  std::size_t bytes_, out_bytes_;
  bool in_place_, gaps_;
  std::size_t points_;
  bool float64_;
  std::function<std::shared_ptr<const PlaneRun>()> reference_;
  std::optional<Queue> queue_;
  Buffer in_, out_, expected_;
};

}  // namespace

// True if rows of real samples can be read as rows of pairs (complex numbers). In place, input and output of each plane
// must then have the same address.
bool DeviceTransform::pairs_serve() const {
  const Side &samples = layout_.samples, &spectrum = layout_.spectrum;
  const std::size_t last = layout_.axes - 1;
  if (samples.aliases || samples.shape[last] % 2 != 0 || samples.strides[last] != 1 || spectrum.strides[last] != 1) {
    return false;
  }
  const auto serves = [&](std::size_t count, std::size_t step, std::size_t step_out) {
    return count == 1 || (step % 2 == 0 && (!problem_.in_place || step == 2 * step_out));
  };
  for (std::size_t axis = 0; axis < last; ++axis) {
    if (!serves(samples.shape[axis], samples.strides[axis], spectrum.strides[axis])) return false;
  }
  return serves(problem_.batch, samples.batch, spectrum.batch);
}

std::optional<PlaneProblem> DeviceTransform::plane_problem(Direction direction) const {
  const bool forward = direction == Direction::forward;
  const std::size_t axes = layout_.axes;
  const bool real = problem_.kind == Kind::real;
  if (problem_.storage != Storage::same || axes < 2) return {};
  const std::span<const std::size_t> others(layout_.samples.shape.data(), axes - 2);
  const bool last = std::ranges::all_of(others, [](std::size_t side) { return side == 1; });
  const Side& in = forward ? layout_.samples : real && !last ? work_side_ : layout_.spectrum;
  const Side& out = forward ? layout_.spectrum : layout_.samples;
  if (in.shape[axes - 1] == 1 || in.shape[axes - 2] == 1) return {};
  const EndOperators at_the_ends = end_operators(direction);
  if (at_the_ends.samples != Samples::same || at_the_ends.load.kind() != FactorKind::none ||
      at_the_ends.store.kind() != FactorKind::none) {
    return {};
  }
  if (real && !pairs_serve()) return {};
  // Strides of real samples are counted in pairs.
  const auto step = [&](const Side& side, std::size_t stride) {
    return real && &side == &layout_.samples ? stride / 2 : stride;
  };
  PlaneProblem plane{.float64 = float64_,
                     .real = real,
                     .direction = direction,
                     .rows = in.shape[axes - 2],
                     .columns = layout_.samples.shape[axes - 1],
                     .in_point = in.strides[axes - 1],
                     .out_point = out.strides[axes - 1],
                     .in_row = step(in, in.strides[axes - 2]),
                     .out_row = step(out, out.strides[axes - 2])};
  for (std::size_t axis = axes - 2; axis-- > 0;) {
    if (in.shape[axis] == 1) continue;
    plane.counts.push_back(in.shape[axis]);
    plane.in_chunk.push_back(step(in, in.strides[axis]));
    plane.out_chunk.push_back(step(out, out.strides[axis]));
  }
  plane.counts.push_back(problem_.batch);
  plane.in_chunk.push_back(step(in, in.batch));
  plane.out_chunk.push_back(step(out, out.batch));
  if (last || (real && !forward)) plane.scale = at_the_ends.scale;
  return plane;
}

std::optional<Route> DeviceTransform::chosen_plane(Direction direction, const Stage& first, const Stage& second,
                                                   const planner::Options& options) {
  const std::optional<PlaneProblem> plane = plane_problem(direction);
  if (!plane || (!options.variant.empty() && !options.variant.starts_with("plane"))) return {};
  const std::vector<Route> routes = list_planes(device_, *plane);
  if (!routes.front().candidate.refusal.empty()) return {};
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
  const auto axis_by_axis = [&] {
    using enum PlaneRun::Between;
    return std::make_shared<const PlaneRun>(first.route, second.route,
                                            first.to == second.to    ? out
                                            : first.to == first.from ? in
                                                                     : own,
                                            work_);
  };
  entries.push_back(
      Entry{.candidate = {.variant = "axis_by_axis",
                          .cost = {.bytes = 2 * bytes, .launches = 2, .efficiency = 0.9, .float64 = plane->float64}},
            .build = axis_by_axis});
  const Side& out = direction == Direction::forward ? layout_.spectrum : layout_.samples;
  const bool in_place = problem_.in_place && first.from != Array::work;
  PlaneTrials trials(device_, first.from == Array::work ? work_.size() : bytes_of(direction, true),
                     bytes_of(direction, false), in_place, out.points() * problem_.batch != out.extent,
                     plane->rows * plane->columns, plane->float64, axis_by_axis);
  planner::Options own = options;
  // The requested variant may be the other direction's, with its parameters: then the name without parameters counts.
  if (std::ranges::none_of(routes,
                           [&](const Route& route) { return planner::is_called(route.candidate, own.variant); })) {
    own.variant = own.variant.substr(0, own.variant.find('('));
  }
  auto chosen = planner::choose(device_, {.workload = "fft", .key = key_of(*plane, in_place), .bytes = bytes}, entries,
                                own, trials, planner::Keep::last);
  const std::size_t winner = chosen.decision.winner;
  decisions_.push_back(std::move(chosen.decision));
  if (winner == routes.size()) return {};
  return routes[winner];
}

DeviceTransform::Stage DeviceTransform::joined(const Route& route, Array from, Array to, std::size_t axis) const {
  return {std::make_shared<const CompiledRoute>(device_, route, float64_), from, to, axis};
}

// Forward by the faster alternative; the inverse by the same one.
bool DeviceTransform::join_complex_planes(const std::vector<PlannedAxis>& back, const planner::Options& options) {
  if (problem_.kind == Kind::real || problem_.directions != Directions::both || forward_.size() < 2) return false;
  const std::optional<Route> route = chosen_plane(Direction::forward, forward_[0], forward_[1], options);
  if (!route) return false;
  if (!back.empty()) {
    const std::optional<PlaneProblem> other = plane_problem(Direction::inverse);
    if (!other) return false;
    const std::vector<Route> returning = list_planes(device_, *other);
    const auto same = std::ranges::find_if(returning, [&](const Route& one) {
      return one.candidate.refusal.empty() && one.candidate.name() == route->candidate.name();
    });
    if (same == returning.end()) return false;
    inverse_.push_back(joined(*same, back[0].from, back[1].to, back[0].axis));
  }
  forward_[1] = joined(*route, forward_[0].from, forward_[1].to, forward_[0].axis);
  forward_.erase(forward_.begin());
  return true;
}

// The inverse ends with columns and rows: another kernel, chosen separately.
void DeviceTransform::join_real_planes(const planner::Options& options) {
  if (problem_.kind != Kind::real) return;
  for (const Direction direction : {Direction::forward, Direction::inverse}) {
    std::vector<Stage>& stages = direction == Direction::forward ? forward_ : inverse_;
    if (stages.size() < 2) continue;
    const std::size_t first = direction == Direction::forward ? 0 : stages.size() - 2;
    const std::optional<Route> route = chosen_plane(direction, stages[first], stages[first + 1], options);
    if (!route) continue;
    stages[first + 1] = joined(*route, stages[first].from, stages[first + 1].to, stages[first].axis);
    stages.erase(stages.begin() + static_cast<std::ptrdiff_t>(first));
  }
}

}  // namespace ridge::fft
