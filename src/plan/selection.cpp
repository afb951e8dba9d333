// Predicts, looks up, times and compares candidates, and records why each one lost.
#include "plan/selection.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <new>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <unordered_set>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/machine.hpp>
#include <ridge/plan.hpp>

#include "base/clock.hpp"
#include "base/fork_gate.hpp"
#include "base/log.hpp"
#include "base/trace.hpp"
#include "plan/predict.hpp"
#include "plan/wisdom.hpp"

namespace ridge::planner {
namespace {

constexpr std::size_t kRunAgain = 3;  // times the best of the first round again: one noisy run must not decide
constexpr double kNoise = 0.03;       // times closer than this are equal, and the previous winner is kept

std::string_view verification_asked_for() {
  const char* value = std::getenv("RIDGE_VERIFY");
  return value == nullptr || std::string_view(value) == "0" ? "" : value;
}

bool is_cost(double value) { return std::isfinite(value) && value >= 0; }

void check(const Problem& problem, const std::vector<Candidate>& candidates) {
  const auto defect = [&](const std::string& what) {
    throw Error(ErrorKind::internal, fmt::format("planning \"{}\": {}", problem.key, what));
  };
  if (!is_cost(problem.flops) || !is_cost(problem.bytes)) defect("the problem's flops or bytes are not a number");
  std::unordered_set<std::string> names;
  for (const Candidate& candidate : candidates) {
    const std::string name = candidate.name();
    if (!names.insert(name).second) defect(fmt::format("two candidates are called {}", name));
    const Cost& cost = candidate.cost;
    if (!is_cost(cost.flops) || !is_cost(cost.bytes) || !is_cost(cost.launches))
      defect(fmt::format("the cost of {} is not a number", name));
    if (!(cost.efficiency > 0 && cost.efficiency <= 1))
      defect(fmt::format("the efficiency of {} is {}, not in (0, 1]", name, cost.efficiency));
    if (!(cost.memory_efficiency >= 0 && cost.memory_efficiency <= 1))
      defect(fmt::format("the memory efficiency of {} is {}, not in [0, 1]", name, cost.memory_efficiency));
  }
}

// The state of one selection.
class Selection {
 public:
  Selection(const DeviceInfo& device, const machine::Ceilings& ceilings, const Problem& problem,
            const std::vector<Candidate>& candidates, const Options& options, const Questions& ask)
      : device_(device),
        ceilings_(ceilings),
        problem_(problem),
        candidates_(candidates),
        options_(options),
        ask_(ask),
        verifies_(ask.compare && !device.recorded && verifies(options)) {}

  Decision decide() {
    start_ = base::now();
    check(problem_, candidates_);
    decision_.problem = problem_;
    decision_.device = fmt::format("{} ({})", device_.id, device_.name);
    filter();
    predict_allowed();
    if (!take_from_wisdom()) {
      if (allowed_.size() == 1) {
        take_first_right(Source::only_choice);
      } else if (options_.effort == Effort::quick || device_.recorded) {
        take_first_right(Source::model);
      } else {
        run_and_choose();
      }
    }
    give_reasons();
    const Prediction limit = roof(ceilings_, problem_, candidates_[decision_.winner].cost.float64);
    decision_.roof_seconds = limit.seconds;
    decision_.roof = limit.bound;
    decision_.planning_seconds = base::now() - start_;
    return std::move(decision_);
  }

 private:
  Trial& trial(std::size_t i) { return decision_.trials[i]; }
  void win(std::size_t i, Source source) {
    decision_.winner = i;
    decision_.source = source;
  }

  // --- which candidates are considered ------------------------------------------------------------------------------
  bool is_asked_for(const Candidate& candidate) const {
    return options_.variant.empty() || is_called(candidate, options_.variant);
  }

  void filter() {
    bool any_asked_for = false;
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      const Candidate& candidate = candidates_[i];
      decision_.trials.push_back({.name = candidate.name()});
      if (!is_asked_for(candidate)) {
        trial(i).reason = fmt::format("not considered: only {} was requested", options_.variant);
        continue;
      }
      any_asked_for = true;
      if (candidate.refusal.empty()) {
        allowed_.push_back(i);
      } else {
        trial(i).reason = candidate.refusal;
      }
    }
    if (!any_asked_for) throw Error(ErrorKind::invalid_argument, no_such_variant());
    if (allowed_.empty()) throw Error(ErrorKind::invalid_argument, none_allowed());
  }

  std::string no_such_variant() const {
    if (candidates_.empty()) return fmt::format("no variant exists for {} on {}", problem_.key, decision_.device);
    std::vector<std::string> names;  // without parameters, which are numerous; the table of `ridge bench` shows them
    for (const Candidate& one : candidates_) {
      if (std::find(names.begin(), names.end(), one.variant) == names.end()) names.push_back(one.variant);
    }
    return fmt::format("{} has no variant \"{}\" on {}; there are {}", problem_.workload, options_.variant,
                       decision_.device, fmt::join(names, ", "));
  }

  std::string none_allowed() const {
    std::string message = fmt::format("no variant can do {} on {}", problem_.key, decision_.device);
    const char* separator = ": ";
    for (std::size_t i = 0; i < candidates_.size(); ++i) {
      if (!is_asked_for(candidates_[i])) continue;
      message += fmt::format("{}{}: {}", separator, decision_.trials[i].name, candidates_[i].refusal);
      separator = "; ";
    }
    return message;
  }

  // Sorts allowed_ by predicted time, fastest first; candidates of equal time keep their listed order.
  void predict_allowed() {
    bounds_.resize(candidates_.size());
    for (const std::size_t i : allowed_) {
      Prediction prediction = predict(ceilings_, problem_, candidates_[i].cost);
      trial(i).predicted_seconds = prediction.seconds;
      bounds_[i] = std::move(prediction.bound);
    }
    std::stable_sort(allowed_.begin(), allowed_.end(), [&](std::size_t a, std::size_t b) {
      return trial(a).predicted_seconds < trial(b).predicted_seconds;
    });
  }

  // --- verification -------------------------------------------------------------------------------------------------
  // Compares each candidate once. The time this takes is not counted as trial time.
  bool is_right(std::size_t i) {
    if (!verifies_) return true;
    verdicts_.resize(candidates_.size());
    if (!verdicts_[i]) {
      const double start = base::now();
      verdicts_[i] = compares_well(i);
      beside_ += base::now() - start;
    }
    return *verdicts_[i];
  }

  bool compares_well(std::size_t i) {
    return attempt(i, [&] {
      const Comparison comparison = ask_.compare(i);
      if (comparison.right()) return true;
      const std::string wrong = fmt::format("wrong: {}", comparison.text());
      const std::string which = fmt::format("{} on {}: {}", problem_.key, decision_.device, trial(i).name);
      if (verification_asked_for() == "strict") throw std::logic_error(fmt::format("{} is {}", which, wrong));
      base::warn(fmt::format("{} is {}; it is excluded", which, wrong));
      lose(i, ErrorKind::internal, wrong);
      return false;
    });
  }

  // Selects the best predicted candidate whose answer is correct.
  void take_first_right(Source source) {
    const auto found = std::find_if(allowed_.begin(), allowed_.end(), [&](std::size_t i) {
      if (verifies_ && ask_.prepare) ask_.prepare(std::span(&i, 1));
      return is_right(i);
    });
    if (found == allowed_.end()) throw Error(first_failure_.value_or(ErrorKind::internal), all_failed());
    win(*found, source);
  }

  // --- wisdom -------------------------------------------------------------------------------------------------------
  // A choice among some variants is not an answer for all of them, so it has its own key.
  std::string wisdom_key() const {
    const std::string key = by_energy() ? problem_.key + ", by energy" : problem_.key;
    return options_.variant.empty() ? key : fmt::format("{}, only {}", key, options_.variant);
  }
  bool by_energy() const { return options_.objective == Objective::energy; }

  bool take_from_wisdom() {
    if (!options_.use_wisdom) return false;
    // The winner among all variants also wins in every subset that contains it.
    return take_entry(wisdom_key()) || (!options_.variant.empty() && !by_energy() && take_entry(problem_.key));
  }

  bool take_entry(const std::string& key) {
    const auto entry = wisdom::find(device_, problem_.workload, key);
    // A measured plan relies on measurements of this machine only.
    if (!entry || (entry->shipped && options_.effort == Effort::measured)) return false;
    const auto found = std::find_if(allowed_.begin(), allowed_.end(), [&](std::size_t i) { return names(*entry, i); });
    if (found == allowed_.end()) {  // stored before the variants changed, or pinned and refused
      if (entry->pinned) warn_of_pin(*entry);
      return false;
    }
    if (!is_right(*found)) return false;
    win(*found, Source::wisdom);
    trial(*found).measured_seconds = entry->seconds;
    if (entry->pinned) trial(*found).reason = "wisdom: this variant is pinned (ridge wisdom pin)";
    if (entry->shipped) trial(*found).reason = "shipped wisdom: measured on a device of the same name";
    return true;
  }

  // A pin may omit the parameters.
  bool names(const wisdom::Entry& entry, std::size_t i) const {
    return decision_.trials[i].name == entry.winner || (entry.pinned && is_called(candidates_[i], entry.winner));
  }

  void warn_of_pin(const wisdom::Entry& entry) const {
    std::size_t i = 0;
    while (i < candidates_.size() && !names(entry, i)) ++i;
    base::warn(fmt::format("{} is pinned to {}, which is not used: {}", entry.problem, entry.winner,
                           i == candidates_.size() ? "no variant has this name" : decision_.trials[i].reason));
  }

  void save_wisdom() const {
    const Trial& best = decision_.trials[decision_.winner];
    wisdom::remember({.workload = problem_.workload,
                      .problem = wisdom_key(),
                      .device = decision_.device,
                      .fingerprint = device_.fingerprint(),
                      .winner = best.name,
                      .seconds = best.measured_seconds});
  }

  // --- measurement --------------------------------------------------------------------------------------------------
  void run_and_choose() {
    if (!ask_.seconds)
      throw Error(ErrorKind::internal,
                  fmt::format("planning \"{}\": the workload provides no measurement", problem_.key));
    if (by_energy() && (!ask_.open_meter || !ask_.watts))
      throw Error(ErrorKind::invalid_argument, fmt::format("{} cannot be planned by energy", problem_.workload));
    if (by_energy()) ask_.open_meter();
    const std::size_t most = std::max<std::size_t>(options_.most_trials, 1);
    const std::size_t first_round = std::min(most, allowed_.size());
    to_run_ = first_round + std::min(first_round, kRunAgain);
    if (ask_.prepare) {
      const double start = base::now();
      ask_.prepare(std::span(allowed_).first(first_round));
      beside_ += base::now() - start;  // compile time does not count as trial time
    }
    std::vector<std::size_t> ran;
    // A failing candidate does not count towards the limit: planning succeeds as long as one variant works.
    for (const std::size_t i : allowed_) {
      if (ran.size() >= most) break;
      if (!ran.empty() && !time_for_another()) {
        out_of_time_ = true;
        break;
      }
      if (run(i)) ran.push_back(i);
    }
    if (by_energy()) measure_energy(ran);
    order_by_measurement(ran);
    for (std::size_t k = 0; !by_energy() && ran.size() > 1 && k < std::min(kRunAgain, ran.size()) && time_for_another();
         ++k)
      run(ran[k]);
    std::erase_if(ran, [&](std::size_t i) { return trial(i).measured_seconds == 0; });
    order_by_measurement(ran);
    if (ran.empty()) throw Error(first_failure_.value_or(ErrorKind::internal), all_failed());
    win(last_winner_among(ran), Source::measurement);
    if (options_.save_wisdom) save_wisdom();
  }

  // Candidates whose power cannot be measured lose. Takes half a second each, which is not counted as trial time.
  void measure_energy(std::vector<std::size_t>& ran) {
    std::erase_if(ran, [&](std::size_t i) {
      const double start = base::now();
      const bool worked = attempt(i, [&] {
        trial(i).measured_joules = ask_.watts(i) * trial(i).measured_seconds;
        return true;
      });
      beside_ += base::now() - start;
      return !worked;
    });
  }
  double measured(std::size_t i) const {
    const Trial& one = decision_.trials[i];
    return by_energy() ? one.measured_joules : one.measured_seconds;
  }

  // The best candidate, or the previous winner if both are equal within noise. Read even if wisdom is
  // disabled: a new measurement that varies within noise should not change the variant.
  std::size_t last_winner_among(const std::vector<std::size_t>& ran) {
    const auto entry = wisdom::find(device_, problem_.workload, wisdom_key());
    if (!entry) return ran.front();
    const double near_enough = measured(ran.front()) * (1 + kNoise);
    const auto last = std::find_if(ran.begin(), ran.end(), [&](std::size_t i) {
      return trial(i).name == entry->winner && measured(i) <= near_enough;
    });
    return last == ran.end() ? ran.front() : *last;
  }

  void order_by_measurement(std::vector<std::size_t>& ran) {
    std::stable_sort(ran.begin(), ran.end(), [&](std::size_t a, std::size_t b) { return measured(a) < measured(b); });
  }

  // Keeps the shorter time of this run and an earlier one. A candidate that fails once is excluded.
  bool run(std::size_t i) {
    if (options_.progress)
      options_.progress({.candidate = trial(i).name, .done = done_, .of = std::max(to_run_, done_ + 1)});
    ++done_;
    if (!is_right(i)) return false;
    const double start = base::now();
    const bool worked = try_run(i);
    longest_ = std::max(longest_, base::now() - start);
    return worked;
  }

  bool time_for_another() const { return base::now() - start_ - beside_ + longest_ <= options_.most_seconds; }

  bool try_run(std::size_t i) {
    return attempt(i, [&] {
      const base::trace::Span span("trial", [&] { return candidates_[i].variant; });
      const double seconds = ask_.seconds(i);
      if (!std::isfinite(seconds) || seconds <= 0)
        throw Error(ErrorKind::internal, fmt::format("its measurement returned {} seconds", seconds));
      double& best = trial(i).measured_seconds;
      best = best == 0 ? seconds : std::min(best, seconds);
      return true;
    });
  }

  // Returns the result of the call, or false if it fails.
  template <class Call>
  bool attempt(std::size_t i, const Call& call) {
    try {
      return call();
    } catch (const Error& error) {
      lose(i, error.kind(), fmt::format("failed: {}", error.what()));
    } catch (const std::bad_alloc&) {
      lose(i, ErrorKind::out_of_memory, "failed: out of host memory");
    }
    return false;
  }

  void lose(std::size_t i, ErrorKind kind, const std::string& reason) {
    if (!first_failure_) first_failure_ = kind;
    trial(i).measured_seconds = 0;
    trial(i).reason = reason;
  }

  std::string all_failed() const {
    std::string message = fmt::format("every variant that could do {} on {} failed:", problem_.key, decision_.device);
    for (const std::size_t i : allowed_)
      message += fmt::format("\n  {}: {}", decision_.trials[i].name, decision_.trials[i].reason);
    return message;
  }

  // --- reasons of the rejected candidates ----------------------------------------------------------------------------
  void give_reasons() {
    const Trial best = trial(decision_.winner);
    for (const std::size_t i : allowed_) {
      Trial& loser = trial(i);
      if (i == decision_.winner || !loser.reason.empty()) continue;
      const double predicted = loser.predicted_seconds / best.predicted_seconds;
      if (loser.measured_joules > 0 && best.measured_joules > 0) {
        loser.reason = fmt::format("measured {:.2f}x the energy", loser.measured_joules / best.measured_joules);
      } else if (loser.measured_seconds > 0) {
        loser.reason = fmt::format("measured {:.2f}x slower", loser.measured_seconds / best.measured_seconds);
      } else if (out_of_time_) {
        loser.reason = fmt::format("predicted {:.2f}x slower, not measured: the time limit was reached", predicted);
      } else if (predicted >= 1) {
        loser.reason = fmt::format("predicted {:.2f}x slower, bound by {}", predicted, bounds_[i]);
      } else {
        loser.reason =
            fmt::format("predicted {:.2f}x faster, but the saved measurement prefers another", 1 / predicted);
      }
    }
  }

  const DeviceInfo& device_;
  const machine::Ceilings& ceilings_;
  const Problem& problem_;
  const std::vector<Candidate>& candidates_;
  const Options& options_;
  const Questions& ask_;
  const bool verifies_;
  Decision decision_;
  std::vector<std::size_t> allowed_;
  std::vector<std::string> bounds_;
  std::optional<ErrorKind> first_failure_;
  std::vector<std::optional<bool>> verdicts_;
  std::size_t done_ = 0, to_run_ = 0;
  double start_ = 0, longest_ = 0, beside_ = 0;
  bool out_of_time_ = false;
};

}  // namespace

bool is_called(const Candidate& candidate, const std::string& wanted) {
  return wanted == candidate.variant || wanted == candidate.name() ||
         (!wanted.empty() && candidate.variant.starts_with(wanted + "/"));
}

bool verifies(const Options& options) { return options.verify || !verification_asked_for().empty(); }

Decision select(const DeviceInfo& device, const machine::Ceilings& ceilings, const Problem& problem,
                const std::vector<Candidate>& candidates, const Options& options, const Questions& ask) {
  const base::ForkGate gate;
  base::trace::Span span("plan", [&] { return problem.key; });
  Decision decision = Selection(device, ceilings, problem, candidates, options, ask).decide();
  if (span.active()) span.note(fmt::format("{}: {}", problem.key, decision.trials[decision.winner].name));
  return decision;
}

Decision decide(const Device& device, const Problem& problem, const std::vector<Candidate>& candidates,
                const Options& options, const Measure& measure) {
  return select(device.info(), machine::ceilings(device), problem, candidates, options, {.seconds = measure});
}

}  // namespace ridge::planner
