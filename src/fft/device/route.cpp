// Compiles the steps of a route, allocates their arrays, and runs them in portions of the batch.
#include "fft/device/route.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/machine.hpp>

#include "device/backend.hpp"

namespace ridge::fft::on_device {

planner::Candidate described(const AxisProblem& problem, const std::string& variant, const std::vector<Step>& steps,
                             double efficiency) {
  planner::Candidate candidate{.variant = variant};
  std::string radices, items, lines;
  double moved = 0, operations = 0;
  for (const Step& step : steps) {
    const double all = static_cast<double>(step.lines) * static_cast<double>(problem.counts.back());
    const StepShare share = step.design->share(all);
    moved += share.bytes;
    operations += share.operations;
    if (share.radices.empty()) continue;
    const char* comma = radices.empty() ? "" : ",";
    radices += comma + share.radices;
    items += comma + share.items;
    lines += comma + share.lines;
  }
  candidate.parameters = {{"radices", radices}, {"items", items}, {"lines", lines}};
  candidate.cost = {.flops = operations,
                    .bytes = moved,
                    .launches = static_cast<double>(steps.size()),
                    .efficiency = std::clamp(efficiency, 0.01, 1.0),
                    .float64 = problem.float64};
  return candidate;
}

bool is_small(const Device& device, const AxisProblem& problem) {
  constexpr std::uint64_t kPointsPerUnit = 16384;
  return device.limits().private_arrays_in_registers &&
         problem.lines() * problem.length <= device.limits().compute_units * kPointsPerUnit;
}

// Measured on an H200 (us; docs/measurements/h200.md): clusters of 4, 8 and 16 groups take 12.7, 8.3 and 6.2 for one
// line of 2^16 points, two passes by 64 groups 5.9, of which launches are 5.5.
void expect_small(const Device& device, const AxisProblem& problem, std::vector<Route>& routes) {
  if (!is_small(device, problem)) return;
  constexpr double kNextLaunch = 2.5e-6;  // seconds; the first launch counts as in the profile
  constexpr double kOfAverage =
      1.5;  // rate of a compute unit while the others are idle, relative to its share of the memory's rate
  const machine::Ceilings ceilings = machine::ceilings(device);
  const double bytes = problem_bytes(problem), memory = ceilings.memory().all.copy;
  double cached = memory;  // rate that the prediction will use
  for (const machine::Level& level : ceilings.levels) {
    if (level.name != "local" && static_cast<double>(level.capacity) >= bytes) {
      cached = std::max(cached, level.all.copy);
      break;
    }
  }
  const double next = ceilings.launch_seconds > 0 ? std::min(1.0, kNextLaunch / ceilings.launch_seconds) : 1;
  const double alone = kOfAverage * (cached > 0 ? memory / cached : 1) /
                       static_cast<double>(std::max<std::size_t>(device.limits().compute_units, 1));
  for (Route& route : routes) {
    planner::Cost& cost = route.candidate.cost;
    if (route.steps.empty()) continue;         // refused
    double bytes_moved = 0, bytes_waited = 0;  // the second includes bytes that idle units could have moved
    for (const Step& step : route.steps) {
      const StepDesign& design = *step.design;
      const double lines = static_cast<double>(step.lines) * static_cast<double>(route.outer);
      const double moved = std::max(design.share(lines).bytes, 1.0);
      const double busy = std::min(1.0, alone * std::max(design.concurrent_groups(lines), 1.0));
      bytes_moved += moved;
      bytes_waited += moved / (busy * design.efficiency_in_cache());
    }
    const double busy = bytes_moved / bytes_waited;
    cost.efficiency = std::max(cost.efficiency * busy, 1e-4);
    cost.launches = 1 + (cost.launches - 1) * next;
    if (route.steps.size() > 1 && cached == memory)
      cost.bytes /= 2;  // intermediate data stay in a cache without a rate
  }
}

Route one_step(const AxisProblem& problem, std::shared_ptr<const StepDesign> design, std::uint64_t from_stride,
               std::uint64_t to_stride) {
  Route route;
  route.outer = problem.counts.back();
  route.steps.push_back({.design = std::move(design),
                         .from = Place::input,
                         .to = Place::output,
                         .lines = inner_lines(problem),
                         .from_stride = from_stride,
                         .to_stride = to_stride,
                         .load = problem.load,
                         .store = problem.store});
  return route;
}

Route refused(const std::string& variant, const std::string& why) {
  Route route;
  route.candidate.variant = variant;
  route.candidate.refusal = why;
  return route;
}

std::vector<KernelSource> kernels_of(const Route& route) {
  std::vector<KernelSource> all;
  for (const Step& step : route.steps) add_to(all, step.design->kernels());
  return all;
}

void add_to(std::vector<KernelSource>& all, std::vector<KernelSource> more) {
  std::move(more.begin(), more.end(), std::back_inserter(all));
}

namespace {

constexpr std::uint64_t kMostGroups = 0x7fffffff;

}  // namespace

CompiledRoute::CompiledRoute(const Device& device, const Route& route, bool float64) : route_(route) {
  at_once_ = route.at_once == 0 ? route.outer : std::min(route.at_once, route.outer);
  double most = static_cast<double>(at_once_);
  for (const Step& step : route.steps) {
    most = std::min(
        most, static_cast<double>(kMostGroups) / std::max(step.design->groups(static_cast<double>(step.lines)), 1.0));
    most = std::min(most, 4.0e9 / static_cast<double>(std::max<std::uint64_t>(step.lines, 1)));
  }
  // An even number of elements keeps 16-byte accesses aligned.
  if (most < static_cast<double>(at_once_))
    at_once_ = std::max<std::uint64_t>(static_cast<std::uint64_t>(most) / 64 * 64, 1);
  if (route.together && at_once_ < route.outer) {
    // Steps address the scratch arrays by positions in the whole batch, so the batch cannot be split.
    throw Error(
        ErrorKind::invalid_argument,
        fmt::format("fft: needs at most {} interleaved lines, got {}: divide the batch", at_once_, route.outer));
  }
  for (const Step& step : route.steps) {
    stages_.push_back(
        {step.design->compile(device, step), step.from, step.to, step.lines, step.from_stride, step.to_stride});
    writes_own_arrays_ = writes_own_arrays_ || stages_.back().step->writes_own_arrays();
  }
  const auto array = [&](std::uint64_t elements, const char* name) {
    if (elements == 0) return Buffer();
    return device.buffer(static_cast<std::size_t>(elements * at_once_) * (float64 ? 16 : 8), {.name = name});
  };
  scratch_ = array(route.scratch, "fft scratch");
  work_ = array(route.work, "fft work");
  spare_ = array(route.spare, "fft spare");
}

std::size_t CompiledRoute::scratch_bytes() const {
  std::size_t bytes = 0;
  for (const Buffer* array : {&scratch_, &work_, &spare_}) bytes += *array ? array->size() : 0;
  return bytes;
}

const Buffer& CompiledRoute::at(Place place, const Buffer& in, const Buffer& out) const {
  switch (place) {
    case Place::input:
      return in;
    case Place::output:
      return out;
    case Place::scratch:
      return scratch_;
    case Place::work:
      return work_;
    case Place::spare:
      break;
  }
  return spare_;
}

void CompiledRoute::enqueue(Queue& queue, const Buffer& in, const Buffer& out, std::uint64_t in_offset,
                            std::uint64_t out_offset) const {
  const bool shares = scratch_ || work_ || spare_ || writes_own_arrays_;
  std::unique_lock lock(mutex_, std::defer_lock);
  if (shares) {
    lock.lock();
    if (last_queue_ && last_queue_->native() != queue.native()) queue.wait_for(last_ ? last_ : last_queue_->record());
  }
  for (std::uint64_t first = 0; first < route_.outer; first += at_once_) {
    const std::uint64_t count = std::min(at_once_, route_.outer - first);
    for (const Stage& stage : stages_) {
      const auto offset = [&](Place place, std::uint64_t stride) -> std::uint64_t {
        if (place == Place::input) return in_offset + first * stride;
        return place == Place::output ? out_offset + first * stride : 0;
      };
      const std::uint64_t from = offset(stage.from, stage.from_stride), to = offset(stage.to, stage.to_stride);
      const Buffer &source = at(stage.from, in, out), &target = at(stage.to, in, out);
      stage.step->enqueue(queue, source, from, target, to, stage.lines * count);
    }
  }
  if (shares) {
    last_queue_ = queue;
    last_ = queue.device().state().is_foreign(queue.native()) ? queue.record() : Event();
  }
}

std::string CompiledRoute::describe() const {
  std::string text;
  for (const Stage& stage : stages_) text += (text.empty() ? "" : "; ") + stage.step->describe();
  return text;
}

}  // namespace ridge::fft::on_device
