// Times planning with an empty cache, from the cache, with measurement and from wisdom.
#include "bench/fft/fft.hpp"

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

// Seconds of a plan's constructor; `variant` gets the chosen variant.
template <class T>
double planning_seconds(const Device& device, const fft::Problem& problem, const planner::Options& options,
                        std::string* variant = nullptr) {
  const double start = base::now();
  const fft::Plan<T> plan(device, problem, options);
  const double seconds = base::now() - start;
  if (variant != nullptr) *variant = winners(plan.decisions());
  return seconds;
}

// Cells of the table: quick, from the cache, measured, from wisdom, the measured choice.
template <class T>
std::vector<std::string> planning_times(const Device& device, const FftBench& wanted) {
  const fft::Problem problem{.shape = wanted.problem.shape,
                             .batch = wanted.problem.batch,
                             .kind = wanted.problem.real ? fft::Kind::real : fft::Kind::complex};
  const planner::Options quick{.effort = Effort::quick, .save_wisdom = false, .variant = wanted.variant};
  planner::Options measured{.variant = wanted.variant};
  if (wanted.trials > 0) measured.most_trials = wanted.trials;
  std::vector<double> seconds;
  std::string variant;
  {
    const EmptyCache cache;
    for (int i = 0; i < 2; ++i) seconds.push_back(planning_seconds<T>(device, problem, quick));
  }
  const EmptyCache cache;
  seconds.push_back(planning_seconds<T>(device, problem, measured, &variant));
  seconds.push_back(planning_seconds<T>(device, problem, measured));
  std::vector<std::string> cells{fft_problem_text(wanted.problem), device.id()};
  for (const double one : seconds) cells.push_back(base::human_seconds(one));
  cells.push_back(variant);
  return cells;
}

}  // namespace

std::string planning_table(const std::vector<FftBench>& problems, const std::vector<Device>& devices) {
  std::vector<std::vector<std::string>> rows{
      {"problem", "device", "quick", "from cache", "measured", "from wisdom", "measured choice"}};
  for (const FftBench& wanted : problems) {
    for (const Device& device : devices) {
      // The first plan of a process also creates the device's context and loads its compiler.
      static_cast<void>(
          planning_seconds<float>(device, {.shape = {2}}, {.effort = Effort::quick, .use_wisdom = false}));
      rows.push_back(wanted.problem.float64 ? planning_times<double>(device, wanted)
                                            : planning_times<float>(device, wanted));
    }
  }
  return base::table(rows) +
         "quick: the model's choice, or that of shipped wisdom, compiled; measured: the fastest of the timed "
         "candidates; both with an empty "
         "cache.\n"
         "Times of the whole constructor: kernels of both directions, tables, scratch memory.\n";
}

}  // namespace ridge::cli
