// Times the parts of every variant at a length, and checks its answer.
#include "papers/fft/device/measure.hpp"

#include <algorithm>
#include <cmath>
#include <complex>
#include <random>

#include <fmt/format.h>
#include <ridge/fft.hpp>

#include "base/clock.hpp"
#include "device/timing.hpp"
#include "fft/device/route.hpp"
#include "fft/device/transform.hpp"

namespace ridge::fft::papers {
namespace {

using Points = std::vector<std::complex<float>>;

constexpr double kWrong = 1e-5;

Points random_points(std::size_t n) {
  std::mt19937 generator(1);
  std::uniform_real_distribution<float> uniform(-0.5F, 0.5F);
  Points points(n);
  for (auto& point : points) {
    const float re = uniform(generator), im = uniform(generator);
    point = {re, im};
  }
  return points;
}

double distance(const Points& a, const Points& b) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    difference += std::norm(std::complex<double>(a[i]) - std::complex<double>(b[i]));
    norm += std::norm(std::complex<double>(b[i]));
  }
  return std::sqrt(difference / norm);
}

base::Repeat repeat_for(double seconds) {
  return {.seconds = seconds, .at_least = 2, .at_most = 300, .round = std::min(seconds / 4, 2e-3)};
}

// One variant, compiled with both bit reversals, with the calls that time it.
struct Timed {
  std::size_t index;  // in LengthTimes::variants
  CompiledStages table, computed, tiled;
  std::vector<std::size_t> prefixes{};  // numbers of runs after which the clock is read; the last one covers all
};

// Single stages at the end are alike and are not timed separately.
std::vector<std::size_t> prefixes_of(const StagePlan& plan) {
  std::vector<std::size_t> ends;
  for (std::size_t i = 0; i < plan.runs.size(); ++i) {
    if (plan.runs[i].work != Work::one_stage) ends.push_back(i + 1);
  }
  if (ends.empty() || ends.back() != plan.runs.size()) ends.push_back(plan.runs.size());
  return ends;
}

class Measurement {
 public:
  Measurement(const Device& device, int log_n, SharedKernels& shared, const MeasureOptions& options)
      : device_(device), shared_(shared), options_(options), queue_(device.queue()), n_(std::size_t{1} << log_n) {
    result_.log_n = log_n;
    in_ = device.buffer(n_ * kPoint, {.name = "papers input"});
    out_ = device.buffer(n_ * kPoint, {.name = "papers output"});
    points_ = random_points(n_);
    answer_.resize(n_);
    queue_.upload(std::span<const std::complex<float>>(points_), in_);
    queue_.finish();
  }

  LengthTimes run() {
    compile();
    check();
    time_kernels();
    time_totals();
    choose();
    return std::move(result_);
  }

 private:
  void compile() {
    for (const Variant& variant : variants()) {
      VariantTimes times;
      times.plan = plan_stages(variant, result_.log_n, group_limits(device_.limits()));
      result_.variants.push_back(times);
      if (!times.plan.refusal.empty()) continue;
      StagePlan computed = times.plan;
      computed.reversal = Reversal::computed;
      StagePlan tiled = times.plan;
      tiled.reversal = Reversal::tiled;
      timed_.push_back({result_.variants.size() - 1, CompiledStages(shared_, times.plan),
                        CompiledStages(shared_, computed), CompiledStages(shared_, tiled), prefixes_of(times.plan)});
    }
  }

  void check() {
    const Plan<float> host_plan(host(), {.shape = {n_}},
                                {.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false});
    Points expected(n_);
    host_plan.forward(std::span<const std::complex<float>>(points_), std::span<std::complex<float>>(expected));
    for (const Timed& one : timed_) {
      for (const CompiledStages* stages : {&one.table, &one.computed, &one.tiled}) {
        queue_.fill(out_, std::byte{0});
        stages->enqueue(queue_, in_, 0, out_, 0, 1);
        queue_.download(out_, std::span<std::complex<float>>(answer_));
        queue_.finish();
        const double far = distance(answer_, expected);
        if (!(far < kWrong)) {
          throw Error(ErrorKind::internal,
                      fmt::format("{}/{} of 2^{} points on {} differs from the host's answer by {:.2g}", kFamily,
                                  stages->plan().variant, result_.log_n, device_.id(), far));
        }
      }
    }
  }

  void time_kernels() {
    std::vector<std::function<void()>> calls;
    for (const auto member : {&Timed::table, &Timed::computed, &Timed::tiled}) {
      calls.emplace_back([this, member] { (timed_.front().*member).enqueue_first(queue_, in_, out_, 0); });
    }
    for (const Timed& one : timed_) {
      for (const std::size_t end : one.prefixes) {
        calls.emplace_back([this, &one, end] { one.table.enqueue_first(queue_, in_, out_, end); });
      }
      calls.emplace_back([this, &one] { one.computed.enqueue(queue_, in_, 0, out_, 0, 1); });
    }
    const std::vector<double> seconds = best_device_seconds(queue_, calls, repeat_for(options_.seconds));
    result_.part1_table = seconds[0];
    result_.part1_computed = seconds[1];
    result_.part1_tiled = seconds[2];
    std::size_t next = 3;
    for (const Timed& one : timed_) {
      VariantTimes& times = result_.variants[one.index];
      times.runs.resize(times.plan.runs.size());
      double before = seconds[0];
      std::size_t begin = 0;
      for (const std::size_t end : one.prefixes) {
        // A shorter call cannot take longer: such a difference is noise.
        const double until = std::max(seconds[next++], before);
        for (std::size_t run = begin; run < end; ++run) {
          times.runs[run] = (until - before) / static_cast<double>(end - begin);
        }
        before = until;
        begin = end;
      }
      times.times.part1 = seconds[0];
      times.times.part2 = before - seconds[0];
      times.computed = seconds[next++];
    }
  }

  // Times upload, kernels and download by the host's clock.
  void time_totals() {
    std::vector<std::function<void()>> calls;
    for (const Timed& one : timed_) {
      calls.emplace_back([this, &one] {
        queue_.upload(std::span<const std::complex<float>>(points_), in_);
        one.table.enqueue(queue_, in_, 0, out_, 0, 1);
        queue_.download(out_, std::span<std::complex<float>>(answer_));
        queue_.finish();
      });
    }
    const auto seconds = base::best_seconds_interleaved(calls, repeat_for(options_.seconds));
    for (std::size_t i = 0; i < timed_.size(); ++i) result_.variants[timed_[i].index].times.total = seconds[i];
  }

  void choose() {
    double best = 0;
    for (std::size_t i = 0; i < result_.variants.size(); ++i) {
      const double seconds = result_.variants[i].times.kernels();
      if (result_.variants[i].plan.refusal.empty() && (best == 0 || seconds < best)) {
        best = seconds;
        result_.winner = i;
      }
    }
    on_device::AxisProblem problem;
    problem.length = n_;
    problem.counts = {1};
    problem.in.line = problem.out.line = {n_};
    const std::vector<on_device::Route> routes = on_device::list_routes(device_, problem, kFamily);
    std::vector<planner::Candidate> candidates;
    std::vector<double> measured;
    for (const on_device::Route& route : routes) {
      candidates.push_back(route.candidate);
      const VariantTimes& times = result_.of(route.candidate.variant.substr(std::string(kFamily).size() + 1));
      const std::string& reversal = route.candidate.parameters.front().second;
      const double tiled = times.times.kernels() - times.times.part1 + result_.part1_tiled;
      measured.push_back(reversal == to_string(Reversal::table)   ? times.times.kernels()
                         : reversal == to_string(Reversal::tiled) ? tiled
                                                                  : times.computed);
    }
    const planner::Options options{
        .most_trials = candidates.size(), .use_wisdom = false, .save_wisdom = options_.save, .variant = kFamily};
    result_.decision = planner::decide(device_, on_device::planner_problem(problem), candidates, options,
                                       [&](std::size_t i) { return measured[i]; });
  }

  const Device& device_;
  SharedKernels& shared_;
  const MeasureOptions& options_;
  Queue queue_;
  std::size_t n_;
  Buffer in_, out_;
  Points points_, answer_;
  std::vector<Timed> timed_;
  LengthTimes result_;
};

}  // namespace

const VariantTimes& LengthTimes::of(const std::string& variant) const {
  for (const VariantTimes& times : variants) {
    if (times.plan.variant == variant) return times;
  }
  throw Error(ErrorKind::invalid_argument, fmt::format("2^{} was not measured with variant {}", log_n, variant));
}

LengthTimes measure_length(const Device& device, int log_n, SharedKernels& shared, const MeasureOptions& options) {
  return Measurement(device, log_n, shared, options).run();
}

double measure_unit(const Device& device, const UnitDesign& design, std::size_t lines, double seconds) {
  const CompiledUnit unit(device, design);
  const std::size_t n = design.length * lines;
  Queue queue = device.queue();
  const Buffer in = device.buffer(n * 8, {.name = "papers input"}),
               out = device.buffer(n * 8, {.name = "papers output"});
  const Points points = random_points(n);
  queue.upload(std::span<const std::complex<float>>(points), in);
  queue.finish();
  return best_device_seconds(queue, {[&] { unit.enqueue(queue, in, 0, out, 0, lines); }}, repeat_for(seconds)).front();
}

}  // namespace ridge::fft::papers
