// Chooses the kernel of a line length once per process, by wisdom, trials or the model.
#include "fft/host/lines.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <mutex>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/fft.hpp>

#include "base/lru_cache.hpp"
#include "fft/host/line_trials.hpp"
#include "fft/variant.hpp"
#include "plan/selection.hpp"
#include "plan/wisdom.hpp"

namespace ridge::fft {
namespace {

// Time limit of all trials of a line, if the caller allows more. An idle machine needs a tenth of it; a busy one must
// not run out of time after the first candidate.
double most_seconds_for(std::size_t n) {
  constexpr double kShortLines = 5, kSlowestFlops = 5e8, kTrials = 4,
                   kRuns = 5;  // per trial: three runs and as much as two for building
  const double points = static_cast<double>(n);
  return kShortLines + kTrials * kRuns * 5 * points * std::log2(points + 1) / kSlowestFlops;
}

// Seconds of each of the two measurements of a candidate. A caller that allows few trials (FFTW_MEASURE) expects a plan
// soon. Of a time limit, a quarter of the candidate's share is used; the rest is for building and noise. A few
// candidates are timed twice.
double trial_seconds(const planner::Options& options) {
  constexpr double kLong = 0.02, kShort = 0.007;
  const double timed = static_cast<double>(std::min<std::size_t>(options.most_trials, 100) + 3);
  const double wanted = options.most_trials < planner::Options{}.most_trials ? kShort : kLong;
  return std::min(wanted, options.most_seconds / (4 * timed));
}

// Up to this length noise would decide, so nothing is timed: classic variants are for comparison only, and
// straight-line code is fastest for a single call, which trials of many lines do not show.
constexpr std::size_t kFewPoints = 16;

template <class T>
std::vector<planner::Candidate> candidates_of(std::size_t n, const std::vector<LineChoice<T>>& choices) {
  std::vector<planner::Candidate> candidates;
  for (const LineChoice<T>& choice : choices) {
    candidates.push_back({.variant = choice.name,
                          .refusal = choice.refusal,
                          .cost = {.flops = choice.flops,
                                   .bytes = 2.0 * static_cast<double>(n) * sizeof(std::complex<T>),
                                   .efficiency = std::clamp(choice.efficiency, 1e-6, 1.0),
                                   .float64 = sizeof(T) == sizeof(double),
                                   .threads = 1}});
  }
  return candidates;
}

template <class T>
planner::Problem describe(std::size_t n) {
  const double points = static_cast<double>(n);
  return {.workload = "fft",
          .key = fmt::format("fft line {} {}", sizeof(T) == sizeof(float) ? "f32" : "f64", n),
          .flops = 5 * points * std::log2(points),
          .bytes = 2 * points * sizeof(std::complex<T>)};
}

// Device, length, and the options that affect the choice.
using Key = std::tuple<std::string, std::size_t, Effort, Objective, std::string, std::size_t, bool, bool>;

template <class T>
struct Remembered {
  planner::SharedDecision decision;
  LineChoice<T> choice;
  std::weak_ptr<const LineKernel<T>> kernel;
  std::size_t text_bytes = 0;  // of a decision made immediately
};

constexpr std::size_t kMostBytes = std::size_t{4} << 20;  // of remembered choices, per precision
constexpr std::size_t kEntryBytes = 1 << 10;              // of one choice without its text

// Memory of a remembered choice: mostly the text of the rejected candidates.
std::size_t bytes_of(const planner::Decision& decision) {
  std::size_t bytes = 0;
  for (const planner::Trial& trial : decision.trials) bytes += sizeof trial + trial.name.size() + trial.reason.size();
  return bytes;
}

template <class T>
struct Memory {
  std::mutex mutex;
  base::LruCache<Key, Remembered<T>, std::map> entries{kMostBytes};
  // Never destroyed: plans may be made and dropped while the process ends.
  static Memory& instance() {
    static Memory* memory = new Memory;
    return *memory;
  }
};

template <class T>
Remembered<T> decide(const Device& device, std::size_t n, const planner::Options& options,
                     std::shared_ptr<const LineKernel<T>>& winner) {
  std::vector<LineChoice<T>> choices = line_choices<T>(n);
  const auto is_straight = [](const std::string& name) {
    return name.starts_with("short ") || name.find("/tangent ") != std::string::npos;
  };
  const bool straight = n <= kFewPoints && is_straight(choices.front().name);
  for (LineChoice<T>& choice : choices) {
    if (!options.variant.empty() || !choice.refusal.empty()) continue;
    if (choice.name.starts_with("classic/")) {
      choice.refusal = "published variant, for comparison only: request it by name";
    } else if (straight && !is_straight(choice.name)) {
      choice.refusal = fmt::format("needs more than {} points, got {}: straight-line code has less overhead per call",
                                   kFewPoints, n);
    }
  }
  const std::vector<planner::Candidate> candidates = candidates_of(n, choices);
  std::vector<planner::Entry<LineKernel<T>>> entries;
  for (std::size_t i = 0; i < choices.size(); ++i) entries.push_back({candidates[i], {}, choices[i].make});
  planner::Options own = options;
  own.most_seconds = std::min(own.most_seconds, most_seconds_for(n));
  LineTrials<T> trials(trial_seconds(own));
  // Timed kernels are freed immediately: all of them together could be many times the size of the problem.
  auto chosen = planner::choose(device, describe<T>(n), entries, own, trials, planner::Keep::last);
  Remembered<T> result;
  const std::size_t first = chosen.decision.winner;
  result.text_bytes = bytes_of(chosen.decision);
  result.decision = std::move(chosen.decision);
  winner = std::move(chosen.winner);
  result.choice = std::move(choices[first]);
  result.kernel = winner;
  return result;
}

// For short lines the model always prefers the registry's first choice, so a quick plan uses it directly and its
// reasons are computed on request, unless wisdom exists or every result is verified. For a few points, reading the
// wisdom file takes longer than planning.
template <class T>
bool is_clear(const Device& device, std::size_t n, const planner::Options& options) {
  constexpr std::size_t kLongest = 4096;
  return options.effort == Effort::quick && options.variant.empty() && n <= kLongest && !planner::verifies(options) &&
         !(options.use_wisdom && n > kFewPoints && wisdom::find(device.info(), "fft", describe<T>(n).key));
}

template <class T>
Remembered<T> take_first(const Device& device, std::size_t n, planner::Options options,
                         std::shared_ptr<const LineKernel<T>>& winner) {
  options.use_wisdom = false;
  Remembered<T> result;
  result.decision = planner::SharedDecision([device, n, options] {
    std::shared_ptr<const LineKernel<T>> again;
    return decide<T>(device, n, options, again).decision.get();
  });
  result.choice = default_choice<T>(n);
  result.kernel = winner = result.choice.make();
  return result;
}

}  // namespace

template <class T>
ChosenLine<T> choose_line(const Device& device, std::size_t n, const planner::Options& options) {
  const Key key{device.id(),        n,
                options.effort,     options.objective,
                options.variant,    options.most_trials,
                options.use_wisdom, options.save_wisdom};
  Memory<T>& memory = Memory<T>::instance();
  {
    std::lock_guard lock(memory.mutex);
    if (Remembered<T>* const entry = memory.entries.find(key)) {
      auto kernel = entry->kernel.lock();
      if (!kernel) entry->kernel = kernel = entry->choice.make();
      return {std::move(kernel), entry->decision};
    }
  }
  // Not under the lock: measuring takes long, and a duplicate result is harmless.
  std::shared_ptr<const LineKernel<T>> kernel;
  Remembered<T> entry = is_clear<T>(device, n, options) ? take_first<T>(device, n, options, kernel)
                                                        : decide<T>(device, n, options, kernel);
  ChosenLine<T> chosen{std::move(kernel), entry.decision};
  std::lock_guard lock(memory.mutex);
  const std::size_t bytes = kEntryBytes + entry.text_bytes;
  memory.entries.put(key, std::move(entry), bytes);
  return chosen;
}

template <class T>
std::vector<planner::Candidate> line_candidates(std::size_t n) {
  return candidates_of(n, line_choices<T>(n));
}

template ChosenLine<float> choose_line(const Device&, std::size_t, const planner::Options&);
template ChosenLine<double> choose_line(const Device&, std::size_t, const planner::Options&);
template std::vector<planner::Candidate> line_candidates<float>(std::size_t);
template std::vector<planner::Candidate> line_candidates<double>(std::size_t);

}  // namespace ridge::fft
