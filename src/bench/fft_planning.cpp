// Times planning with an empty cache, from the cache, with measurement and from wisdom.
#include "bench/fft.hpp"

#include <cstdlib>
#include <filesystem>
#include <optional>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/fft.hpp>

#include "base/clock.hpp"
#include "base/temporaries.hpp"
#include "base/text.hpp"

namespace ridge::cli {
namespace {

// Sets RIDGE_CACHE_DIR to an empty folder during its lifetime. The folder also holds the wisdom, unless RIDGE_WISDOM is
// set.
class EmptyCache {
 public:
  EmptyCache() {
    if (const char* before = std::getenv(kName)) before_ = before;
    setenv(kName, folder_.path().c_str(), 1);
    if (const char* verify = std::getenv(kVerify)) verify_ = verify;
    setenv(kVerify, "0", 1);  // users wait for planning only, without comparison
  }
  EmptyCache(const EmptyCache&) = delete;
  EmptyCache& operator=(const EmptyCache&) = delete;
  ~EmptyCache() {
    before_ ? setenv(kName, before_->c_str(), 1) : unsetenv(kName);
    verify_ ? setenv(kVerify, verify_->c_str(), 1) : unsetenv(kVerify);
  }

 private:
  static constexpr const char* kName = "RIDGE_CACHE_DIR";
  static constexpr const char* kVerify = "RIDGE_VERIFY";
  std::optional<std::string> before_, verify_;
  base::TemporaryFolder folder_{"ridge-planning"};
};

template <class T>
double seconds_of(const Device& device, const fft::Problem& problem, const planner::Options& options,
                  std::string* variant = nullptr) {
  const double start = base::now();
  const fft::Plan<T> plan(device, problem, options);
  const double seconds = base::now() - start;
  if (variant != nullptr) {
    variant->clear();
    for (const auto& decision : plan.decisions()) {
      *variant += (variant->empty() ? "" : " / ") + decision.trials.at(decision.winner).name;
    }
  }
  return seconds;
}

template <class T>
PlanningTimes times_typed(const Device& device, const FftBench& wanted) {
  const fft::Problem problem{.shape = wanted.problem.shape,
                             .batch = wanted.problem.batch,
                             .kind = wanted.problem.real ? fft::Kind::real : fft::Kind::complex};
  planner::Options quick{.effort = Effort::quick, .use_wisdom = false, .save_wisdom = false, .variant = wanted.variant};
  planner::Options measured{.variant = wanted.variant};
  if (wanted.trials > 0) measured.most_trials = wanted.trials;
  PlanningTimes times;
  {
    const EmptyCache cache;
    times.quick = seconds_of<T>(device, problem, quick);
    times.quick_cached = seconds_of<T>(device, problem, quick);
  }
  const EmptyCache cache;
  times.measured = seconds_of<T>(device, problem, measured, &times.variant);
  times.saved = seconds_of<T>(device, problem, measured);
  return times;
}

}  // namespace

PlanningTimes planning_times(const Device& device, const FftBench& wanted) {
  // The first plan of a process also creates the device's context and loads its compiler.
  static_cast<void>(seconds_of<float>(device, {.shape = {2}}, {.effort = Effort::quick, .use_wisdom = false}));
  return wanted.problem.float64 ? times_typed<double>(device, wanted) : times_typed<float>(device, wanted);
}

std::string planning_table(const std::vector<FftBench>& problems, const std::vector<Device>& devices) {
  std::vector<std::vector<std::string>> rows{
      {"problem", "device", "quick", "from cache", "measured", "from wisdom", "measured choice"}};
  for (const FftBench& wanted : problems) {
    for (const Device& device : devices) {
      const PlanningTimes times = planning_times(device, wanted);
      rows.push_back({fft_problem_text(wanted.problem), device.id(), base::human_seconds(times.quick),
                      base::human_seconds(times.quick_cached), base::human_seconds(times.measured),
                      base::human_seconds(times.saved), times.variant});
    }
  }
  return base::table(rows) +
         "quick: the model's choice, compiled; measured: the fastest of the timed candidates; both with an empty "
         "cache.\n"
         "Times of the whole constructor: kernels of both directions, tables, scratch memory.\n";
}

}  // namespace ridge::cli
