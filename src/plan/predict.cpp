// Computes times from ceilings: the memory level that holds the data, arithmetic, launches; and reads the power of a
// device.
#include "plan/predict.hpp"

#include <algorithm>
#include <cmath>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/clock.hpp"
#include "base/text.hpp"

namespace ridge::planner {
namespace {

// Zero would mean "refused", and no clock here resolves less.
constexpr double kLeastSeconds = 1e-9;

struct Ceiling {
  std::string name;
  double per_second = 0;  // 0: unknown
};

double reachable(double all, double one, std::size_t threads) {
  if (threads == 0 || one <= 0) return all;
  const double together = static_cast<double>(threads) * one;
  return all > 0 ? std::min(all, together) : together;
}

// Every variant can use non-temporal stores, so the faster copy is the ceiling.
double best_copy(const machine::Bandwidth& bandwidth) { return std::max(bandwidth.copy, bandwidth.copy_streaming); }

Ceiling peak(const machine::Ceilings& ceilings, bool float64, std::size_t threads) {
  if (float64) return {"double peak", reachable(ceilings.flops_double, ceilings.flops_double_one, threads)};
  return {"float peak", reachable(ceilings.flops_float, ceilings.flops_float_one, threads)};
}

Ceiling bandwidth(const machine::Ceilings& ceilings, double footprint, std::size_t threads) {
  for (std::size_t i = 0; i < ceilings.levels.size(); ++i) {
    const machine::Level& level = ceilings.levels[i];
    const bool last = i + 1 == ceilings.levels.size();
    // A kernel fills local memory itself, so a problem never starts in this level.
    if (level.name == "local" && !last) continue;
    if (!last && static_cast<double>(level.capacity) < footprint) continue;
    const double per_second = reachable(best_copy(level.all), best_copy(level.one), threads);
    if (per_second > 0) return {level.name + " copy", per_second};
  }
  return {"memory copy", 0};
}

double seconds_at(double work, const Ceiling& ceiling) {
  return work > 0 && ceiling.per_second > 0 ? work / ceiling.per_second : 0;
}

std::string ceiling_text(const Ceiling& ceiling, const char* unit, std::size_t threads) {
  const std::string rate = fmt::format("{} {}", ceiling.name, base::human_rate(ceiling.per_second, unit));
  return threads == 0 ? rate : fmt::format("{} of {} {}", rate, threads, threads == 1 ? "thread" : "threads");
}

}  // namespace

Prediction predict(const machine::Ceilings& ceilings, const Problem& problem, const Cost& cost) {
  const Ceiling arithmetic = peak(ceilings, cost.float64, cost.threads);
  const Ceiling traffic = bandwidth(ceilings, problem.bytes, cost.threads);
  const double of_memory = cost.memory_efficiency > 0 ? cost.memory_efficiency : cost.efficiency;
  const double computing = seconds_at(cost.flops, arithmetic) / cost.efficiency;
  const double moving = seconds_at(cost.bytes, traffic) / of_memory;
  const double working = std::max(computing, moving);
  const double launching = cost.launches * std::max(ceilings.launch_seconds, 0.0);

  Prediction prediction{std::max(working + launching, kLeastSeconds), "no known ceiling"};
  if (launching > working) {
    prediction.bound = fmt::format("launch latency {}", base::human_seconds(ceilings.launch_seconds));
  } else if (computing > moving) {
    prediction.bound = ceiling_text(arithmetic, "FLOP/s", cost.threads);
  } else if (moving > 0) {
    prediction.bound = ceiling_text(traffic, "B/s", cost.threads);
  }
  return prediction;
}

Prediction roof(const machine::Ceilings& ceilings, const Problem& problem, bool float64) {
  Prediction limit = predict(ceilings, problem, {.flops = problem.flops, .bytes = problem.bytes, .float64 = float64});
  if (!ceilings.measured) limit.bound += " (estimated; ridge machine measures it)";
  return limit;
}

void PowerMeter::open(const Device& device, const Options& options) {
  joules_ = options.joules;
  if (joules_) return;
  counter_ = std::make_shared<machine::EnergyCounter>(machine::EnergyCounter::open(device));
  if (!counter_->readable())
    throw Error(ErrorKind::unavailable,
                fmt::format("planning by energy needs a power counter, {} has none ({}): plan by time", device.id(),
                            counter_->why_not()));
  joules_ = [counter = counter_] { return counter->joules(); };
}

double PowerMeter::watts(const std::function<void()>& run) const {
  constexpr double kSeconds = 0.5;
  run();
  const double before = joules_(), start = base::now();
  double seconds = 0;
  do {
    run();
    seconds = base::now() - start;
  } while (seconds < kSeconds);
  const double used = joules_() - before;
  if (!std::isfinite(used) || used <= 0)
    throw Error(ErrorKind::unavailable, fmt::format("the power counter advanced by {} J in {:.2f} s", used, seconds));
  return used / seconds;
}

}  // namespace ridge::planner
