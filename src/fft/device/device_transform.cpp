#include "fft/device/device_transform.hpp"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <thread>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>

#include "base/text.hpp"
#include "device/timing.hpp"
#include "fft/operators.hpp"

namespace ridge::fft {
namespace {

using namespace on_device;

constexpr base::Repeat kTrial{.seconds = 0.02, .at_least = 3, .at_most = 200, .round = 2e-4};

// Window, multiplication and scale in one table; the scale alone needs none.
FactorTable factor_table(const std::vector<double>& window, const std::vector<std::complex<double>>& multiply,
                         double scale) {
  FactorTable table;
  if (!multiply.empty()) {
    for (std::size_t i = 0; i < multiply.size(); ++i) {
      table.complex.push_back(multiply[i] * (window.empty() ? scale : scale * window[i]));
    }
  } else {
    for (const double value : window) table.real.push_back(value * scale);
  }
  return table;
}

std::uint64_t extent(const Address& at, const std::vector<std::uint64_t>& counts, std::uint64_t points) {
  std::uint64_t last = (points - 1) * at.point;
  for (std::size_t digit = 0; digit < counts.size(); ++digit) last += (counts[digit] - 1) * at.line[digit];
  return last + 1;
}

std::size_t element_bytes(const AxisProblem& problem, bool input) {
  const std::size_t number = problem.float64 ? 8 : 4;
  const bool samples_side = input == (problem.direction == Direction::forward);
  const std::size_t each = input && problem.samples == Samples::int8    ? 1
                           : input && problem.samples == Samples::int16 ? 2
                                                                        : number;
  return problem.kind == Kind::real && samples_side ? each : 2 * each;
}

std::uint64_t side_points(const AxisProblem& problem, bool input) {
  const bool samples_side = input == (problem.direction == Direction::forward);
  return problem.kind == Kind::real && !samples_side ? problem.length / 2 + 1 : problem.length;
}

// Memory to time candidates in, made when the first is timed and shared by all.
class Trials {
 public:
  Trials(const Device& device, const AxisProblem& problem) : device_(device), problem_(problem) {}

  double seconds(const CompiledRoute& route) {
    if (!queue_) {
      queue_ = device_.queue();
      in_ = array(problem_.in, true);
      out_ = problem_.in_place ? in_ : array(problem_.out, false);
      queue_->fill(in_, std::byte{0x3f});
    }
    return best_device_seconds(*queue_, {[&] { route.enqueue(*queue_, in_, out_); }}, kTrial).front();
  }

 private:
  Buffer array(const Address& at, bool input) {
    std::size_t bytes = static_cast<std::size_t>(extent(at, problem_.counts, side_points(problem_, input))) *
                        element_bytes(problem_, input);
    // In place a real line's samples and spectrum share the longer of the two.
    if (problem_.in_place) {
      bytes = std::max(bytes,
                       static_cast<std::size_t>(extent(problem_.out, problem_.counts, side_points(problem_, false))) *
                           element_bytes(problem_, false));
    }
    return device_.buffer(bytes, {.name = input ? "fft trial input" : "fft trial output"});
  }

  const Device& device_;
  const AxisProblem& problem_;
  std::optional<Queue> queue_;
  Buffer in_, out_;
};

// NVRTC takes its time, and takes it on one core: what will be timed is compiled side by side into the cache on disk.
void compile_ahead(const Device& device, const std::vector<Route>& routes, std::size_t most) {
  if (device.info().backend != Backend::cuda) return;
  std::vector<KernelSource> sources;
  std::size_t taken = 0;
  for (const Route& route : routes) {
    if (!route.candidate.refusal.empty()) continue;
    if (++taken > most) break;
    for (const Step& step : route.steps) sources.push_back(kernel_of(step));
  }
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t i = next++; i < sources.size(); i = next++) {
      try {
        device.compile(sources[i]);
      } catch (const Error&) {
        // Said when the route itself is built.
      }
    }
  };
  std::vector<std::thread> threads;
  const std::size_t count = std::min<std::size_t>(sources.size(), std::max(1U, std::thread::hardware_concurrency()));
  for (std::size_t i = 1; i < count; ++i) threads.emplace_back(work);
  work();
  for (std::thread& thread : threads) thread.join();
}

std::string strides_text(const Address& at) { return fmt::format("{}/{}", at.point, fmt::join(at.line, ",")); }

planner::Problem described(const AxisProblem& problem) {
  std::string key =
      fmt::format("fft device {}{} {} {} lines {} from {} to {}", problem.kind == Kind::real ? "r" : "c",
                  problem.float64 ? "64" : "32", problem.direction == Direction::forward ? "forward" : "inverse",
                  problem.length, fmt::join(problem.counts, "x"), strides_text(problem.in), strides_text(problem.out));
  if (problem.in_place) key += " in place";
  if (problem.samples != Samples::same) key += problem.samples == Samples::int8 ? " int8" : " int16";
  if (problem.load.kind() != FactorKind::none) key += " load factors";
  if (problem.store.kind() != FactorKind::none) key += " store factors";
  return {.workload = "fft", .key = key, .flops = usual_flops(problem), .bytes = problem_bytes(problem)};
}

std::size_t samples_bytes(const Problem& problem, std::size_t number) {
  const Samples samples = problem.load_forward.samples;
  const std::size_t each = samples == Samples::int8 ? 1 : samples == Samples::int16 ? 2 : number;
  return problem.kind == Kind::complex ? 2 * each : each;
}

bool has_gaps(const Side& side, std::size_t batch) { return side.points() * batch != side.extent; }

}  // namespace

template <class T>
typename DeviceTransform<T>::Ends DeviceTransform<T>::ends(Direction direction) const {
  const bool forward = direction == Direction::forward;
  const Load& load = forward ? problem_.load_forward : problem_.load_inverse;
  const Store& store = forward ? problem_.store_forward : problem_.store_inverse;
  const double scale = forward ? problem_.scale_forward : problem_.scale_inverse;
  return {factor_table(load.window, load.multiply, 1), factor_table(store.window, store.multiply, scale), load.samples,
          scale};
}

template <class T>
AxisProblem DeviceTransform<T>::axis_problem(Direction direction, std::size_t axis, Kind kind, const Side& in,
                                             const Side& out) const {
  const bool forward = direction == Direction::forward;
  AxisProblem result;
  result.float64 = sizeof(T) == sizeof(double);
  result.direction = direction;
  result.kind = kind;
  const Side& samples = forward ? in : out;
  result.length = samples.shape[axis];
  result.in.point = in.strides[axis];
  result.out.point = out.strides[axis];
  for (std::size_t other = layout_.axes; other-- > 0;) {
    if (other == axis) continue;
    result.counts.push_back(in.shape[other]);
    result.in.line.push_back(in.strides[other]);
    result.out.line.push_back(out.strides[other]);
  }
  result.counts.push_back(problem_.batch);
  result.in.line.push_back(in.batch);
  result.out.line.push_back(out.batch);
  return result;
}

namespace {

// The places of a table of one value a point of a side, packed.
Address factor_places(const Side& side, std::size_t axes, std::size_t axis) {
  std::array<std::uint64_t, kMostAxes> packed{};
  std::uint64_t step = 1;
  for (std::size_t i = axes; i-- > 0;) {
    packed[i] = step;
    step *= side.shape[i];
  }
  Address at{.point = packed[axis], .line = {}};
  for (std::size_t other = axes; other-- > 0;) {
    if (other != axis) at.line.push_back(packed[other]);
  }
  at.line.push_back(0);
  return at;
}

}  // namespace

template <class T>
std::shared_ptr<const CompiledRoute> DeviceTransform<T>::choose(const AxisProblem& problem,
                                                                const planner::Options& options,
                                                                const std::string& known) {
  const std::vector<Route> routes = list_routes(device_, problem);
  std::vector<planner::Candidate> candidates;
  for (const Route& route : routes) {
    candidates.push_back(route.candidate);
    if (!known.empty() && route.candidate.refusal.empty() && route.candidate.name() == known) {
      return std::make_shared<const CompiledRoute>(device_, route, problem.float64);
    }
  }
  planner::Options own = options;
  // A name that is meant for another axis does not bind this one.
  const auto named = [&](const planner::Candidate& candidate) {
    return candidate.refusal.empty() && (candidate.variant == own.variant || candidate.name() == own.variant);
  };
  if (layout_.axes > 1 && std::none_of(candidates.begin(), candidates.end(), named)) own.variant.clear();
  // What was timed last is kept: compiled routes hold arrays of the problem's size.
  std::shared_ptr<const CompiledRoute> last;
  std::size_t last_index = routes.size();
  const auto build = [&](std::size_t i) -> const CompiledRoute& {
    if (last_index != i) {
      last.reset();
      last = std::make_shared<const CompiledRoute>(device_, routes[i], problem.float64);
      last_index = i;
    }
    return *last;
  };
  Trials trials(device_, problem);
  bool compiled_ahead = false;
  planner::Decision decision = planner::decide(device_, described(problem), candidates, own, [&](std::size_t i) {
    if (!compiled_ahead) compile_ahead(device_, routes, own.most_trials);
    compiled_ahead = true;
    return trials.seconds(build(i));
  });
  build(decision.winner);
  decisions_.push_back(std::move(decision));
  return last;
}

template <class T>
std::optional<PlaneProblem> DeviceTransform<T>::plane_problem(Direction direction) const {
  const bool forward = direction == Direction::forward;
  const std::size_t axes = layout_.axes;
  const Side& in = forward ? layout_.samples : layout_.spectrum;
  const Side& out = forward ? layout_.spectrum : layout_.samples;
  if (problem_.kind != Kind::complex || axes < 2 || in.shape[axes - 1] == 1 || in.shape[axes - 2] == 1) return {};
  const Ends at_ends = ends(direction);
  if (at_ends.samples != Samples::same || at_ends.load.kind() != FactorKind::none ||
      at_ends.store.kind() != FactorKind::none) {
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
  if (last) plane.scale = at_ends.scale;
  return plane;
}

template <class T>
std::shared_ptr<const CompiledRoute> DeviceTransform<T>::choose_plane(const PlaneProblem& plane, const Way& apart,
                                                                      const planner::Options& options) {
  std::vector<Route> routes = list_planes(device_, plane);
  if (!routes.front().candidate.refusal.empty()) return {};
  planner::Options own = options;
  const bool wanted = own.variant.starts_with("plane");
  if (!own.variant.empty() && !wanted) return {};
  std::vector<planner::Candidate> candidates;
  for (const Route& route : routes) candidates.push_back(route.candidate);
  const double bytes = plane_bytes(plane);
  candidates.push_back({.variant = "axis_by_axis",
                        .cost = {.bytes = 2 * bytes, .launches = 2, .efficiency = 0.9, .float64 = plane.float64}});
  const bool forward = plane.direction == Direction::forward;
  std::optional<Queue> queue;
  Buffer in, out;
  std::shared_ptr<const CompiledRoute> last;
  std::size_t last_index = candidates.size();
  const auto compiled = [&](std::size_t i) {
    if (last_index != i) {
      last.reset();
      last = std::make_shared<const CompiledRoute>(device_, routes[i], plane.float64);
      last_index = i;
    }
  };
  const std::string key =
      fmt::format("fft device planes c{} {} {}x{} of {} from {}/{},{} to {}/{},{}{}", plane.float64 ? 64 : 32,
                  forward ? "forward" : "inverse", plane.rows, plane.columns, fmt::join(plane.counts, "x"),
                  plane.in_point, plane.in_row, fmt::join(plane.in_chunk, ","), plane.out_point, plane.out_row,
                  fmt::join(plane.out_chunk, ","), problem_.in_place ? " in place" : "");
  planner::Decision decision =
      planner::decide(device_, {.workload = "fft", .key = key, .bytes = bytes}, candidates, own, [&](std::size_t i) {
        if (!queue) {
          queue = device_.queue();
          in = device_.buffer(bytes_of(plane.direction, true), {.name = "fft trial input"});
          out = problem_.in_place ? in : device_.buffer(bytes_of(plane.direction, false), {.name = "fft trial output"});
          queue->fill(in, std::byte{0x3f});
        }
        if (i < routes.size()) compiled(i);
        const auto once = [&] {
          if (i < routes.size()) return last->enqueue(*queue, in, out);
          for (std::size_t stage = 0; stage < 2; ++stage) {
            apart.stages[stage].route->enqueue(*queue, stage == 0 ? in : out, out);
          }
        };
        return best_device_seconds(*queue, {once}, kTrial).front();
      });
  const std::size_t winner = decision.winner;
  decisions_.push_back(std::move(decision));
  if (winner == routes.size()) return {};
  compiled(winner);
  return last;
}

template <class T>
void DeviceTransform<T>::build(Direction direction, const planner::Options& options) {
  const bool forward = direction == Direction::forward, real = problem_.kind == Kind::real;
  Way& way = forward ? forward_ : inverse_;
  const Side& in = forward ? layout_.samples : layout_.spectrum;
  const Side& out = forward ? layout_.spectrum : layout_.samples;
  const Ends at_ends = ends(direction);
  const std::size_t last_axis = layout_.axes - 1;

  struct Planned {
    std::size_t axis;
    Kind kind;
    Array from, to;
  };
  std::vector<Planned> planned;
  std::vector<std::size_t> axes;  // besides the last one of a real problem
  for (std::size_t axis = layout_.axes; axis-- > 0;) {
    if ((real && axis == last_axis) || layout_.samples.shape[axis] == 1) continue;
    axes.push_back(axis);
  }
  if (!real && axes.empty()) axes.push_back(last_axis);
  if (!real) {
    for (const std::size_t axis : axes) {
      planned.push_back({axis, Kind::complex, planned.empty() ? Array::input : Array::output, Array::output});
    }
  } else if (forward) {
    planned.push_back({last_axis, Kind::real, Array::input, Array::output});
    for (const std::size_t axis : axes) planned.push_back({axis, Kind::complex, Array::output, Array::output});
  } else {
    for (const std::size_t axis : axes) {
      planned.push_back({axis, Kind::complex, planned.empty() ? Array::input : Array::work, Array::work});
    }
    planned.push_back({last_axis, Kind::real, axes.empty() ? Array::input : Array::work, Array::output});
    if (!axes.empty() && !work_) {
      work_side_ = layout_.spectrum;
      std::size_t packed = 1;
      for (std::size_t axis = layout_.axes; axis-- > 0;) {
        work_side_.strides[axis] = packed;
        packed *= work_side_.shape[axis];
      }
      work_side_.batch = packed;
      work_ = device_.buffer(packed * problem_.batch * 2 * sizeof(T), {.name = "fft spectrum at work"});
    }
  }
  const auto side = [&](Array array) -> const Side& {
    return array == Array::input ? in : array == Array::output ? out : work_side_;
  };
  const std::optional<PlaneProblem> plane = plane_problem(direction);
  const auto done_together = [&](std::shared_ptr<const CompiledRoute> route) {
    way.stages = {{std::move(route), planned[0].from, planned[1].to, planned[0].axis}};
    way.has_plane = true;
  };
  for (std::size_t i = 0; i < planned.size(); ++i) {
    if (i == 0 && plane && forward_.has_plane && !forward) {
      const std::string name = forward_.stages.front().route->route().candidate.name();
      for (const Route& route : list_planes(device_, *plane)) {
        if (route.candidate.refusal.empty() && route.candidate.name() == name) {
          done_together(std::make_shared<const CompiledRoute>(device_, route, plane->float64));
        }
      }
      if (way.has_plane) ++i;
      if (way.has_plane) continue;
    }
    const Planned& one = planned[i];
    const Side &from = side(one.from), &to = side(one.to);
    AxisProblem problem = axis_problem(direction, one.axis, one.kind, from, to);
    problem.in_place = one.from == one.to || (problem_.in_place && one.from != Array::work && one.to != Array::work);
    if (i == 0) {
      problem.samples = at_ends.samples;
      problem.load = at_ends.load;
      if (problem.load.kind() != FactorKind::none) problem.load_at = factor_places(from, layout_.axes, one.axis);
    }
    if (i + 1 == planned.size()) {
      problem.store = at_ends.store;
      problem.scale = at_ends.scale;
      if (problem.store.kind() != FactorKind::none) problem.store_at = factor_places(to, layout_.axes, one.axis);
    }
    normalize(problem);
    std::string known;
    for (const Stage& stage : forward_.stages) {
      if (!forward && stage.axis == one.axis) known = stage.route->route().candidate.name();
    }
    way.stages.push_back({choose(problem, options, known), one.from, one.to, one.axis});
    if (i == 1 && plane && forward && way.stages.size() == 2) {
      if (auto route = choose_plane(*plane, way, options)) done_together(std::move(route));
    }
  }
}

template <class T>
DeviceTransform<T>::DeviceTransform(const Device& device, const Problem& problem, const planner::Options& options)
    : device_(device), problem_(problem), layout_(resolve(problem)) {
  if (sizeof(T) == sizeof(double) && !device.limits().float64) {
    throw Error(ErrorKind::unavailable, fmt::format("fft: {} has no double precision", device.id()));
  }
  build(Direction::forward, options);
  if (!layout_.samples.aliases) build(Direction::inverse, options);
}

template <class T>
void DeviceTransform<T>::enqueue(Direction direction, const Buffer& in, const Buffer& out, Queue& queue) const {
  const Way& way = direction == Direction::forward ? forward_ : inverse_;
  const auto array = [&](Array which) -> const Buffer& {
    return which == Array::input ? in : which == Array::output ? out : work_;
  };
  for (const Stage& stage : way.stages) stage.route->enqueue(queue, array(stage.from), array(stage.to));
}

template <class T>
std::size_t DeviceTransform<T>::bytes_of(Direction direction, bool input) const {
  const bool forward = direction == Direction::forward, samples = forward == input;
  if (!samples) return layout_.spectrum.extent * 2 * sizeof(T);
  // Back come reals or complex numbers of T, whatever the samples were loaded from.
  const std::size_t number = (problem_.kind == Kind::complex ? 2 : 1) * sizeof(T);
  return layout_.samples.extent * (forward ? samples_bytes(problem_, sizeof(T)) : number);
}

template <class T>
void DeviceTransform<T>::run(Direction direction, const void* in, void* out) const {
  const bool forward = direction == Direction::forward;
  std::lock_guard lock(host_runs_.mutex);
  if (!host_runs_.queue) {
    const std::size_t spectrum = bytes_of(Direction::forward, false);
    std::size_t samples = std::max(bytes_of(Direction::forward, true), bytes_of(Direction::inverse, false));
    if (problem_.in_place) samples = std::max(samples, spectrum);
    host_runs_.samples = device_.buffer(samples, {.name = "fft samples"});
    host_runs_.spectrum = problem_.in_place ? host_runs_.samples : device_.buffer(spectrum, {.name = "fft spectrum"});
    host_runs_.queue = device_.queue();
  }
  Queue& queue = *host_runs_.queue;
  const Buffer& from = forward ? host_runs_.samples : host_runs_.spectrum;
  const Buffer& to = forward ? host_runs_.spectrum : host_runs_.samples;
  const Side& out_side = forward ? layout_.spectrum : layout_.samples;
  const std::size_t out_bytes = bytes_of(direction, false);
  queue.upload(in, from, bytes_of(direction, true));
  // What lies between the points is the caller's and comes back as it was.
  if (!problem_.in_place && has_gaps(out_side, problem_.batch)) queue.upload(out, to, out_bytes);
  enqueue(direction, from, to, queue);
  queue.download(to, out, out_bytes);
  queue.finish();
}

template <class T>
double DeviceTransform<T>::flops() const {
  const double points = static_cast<double>(layout_.samples.points());
  return (problem_.kind == Kind::real ? 2.5 : 5) * points * std::log2(points) * static_cast<double>(problem_.batch);
}

template <class T>
double DeviceTransform<T>::bytes() const {
  const double samples =
      static_cast<double>(layout_.samples.points()) * static_cast<double>(samples_bytes(problem_, sizeof(T)));
  const double spectrum = static_cast<double>(layout_.spectrum.points()) * 2 * sizeof(T);
  return (samples + spectrum) * static_cast<double>(problem_.batch);
}

template <class T>
std::string DeviceTransform<T>::explain() const {
  std::string text = fmt::format("fft {} {} {}, batch {}, on {}\n", shape_text(problem_),
                                 problem_.kind == Kind::real ? "real" : "complex",
                                 sizeof(T) == sizeof(float) ? "float" : "double", problem_.batch, device_.id());
  for (const Stage& stage : forward_.stages) text += fmt::format("  {}\n", stage.route->describe());
  text += fmt::format("  {:.4g} flops by the usual count; at least {} moved\n", flops(), base::human_bytes(bytes()));
  for (const planner::Decision& decision : decisions_) text += decision.explain();
  return text;
}

template <class T>
std::vector<KernelSource> DeviceTransform<T>::kernels() const {
  std::vector<KernelSource> all;
  for (const Stage& stage : forward_.stages) {
    for (const Step& step : stage.route->route().steps) all.push_back(kernel_of(step));
  }
  return all;
}

template class DeviceTransform<float>;
template class DeviceTransform<double>;

}  // namespace ridge::fft
