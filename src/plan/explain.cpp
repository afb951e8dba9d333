// Formats a decision as text: the winner, the roof, and why the other candidates lost.
#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <ridge/plan.hpp>

#include "base/text.hpp"

namespace ridge::planner {
namespace {

std::string time_of(const Trial& trial, Source source) {
  const std::string predicted = fmt::format("predicted {}", base::human_seconds(trial.predicted_seconds));
  if (trial.measured_seconds <= 0) return predicted + ", not measured";
  return fmt::format("measured {}{}, {}", base::human_seconds(trial.measured_seconds),
                     source == Source::wisdom ? " (saved)" : "", predicted);
}

std::string rate_of(const Problem& problem, double seconds) {
  std::string rate;
  if (problem.bytes > 0) rate += base::human_rate(problem.bytes / seconds, "B/s");
  if (problem.flops > 0) {
    if (!rate.empty()) rate += ", ";
    rate += base::human_rate(problem.flops / seconds, "FLOP/s");
  }
  return rate;
}

std::string choice_of(const Decision& decision) {
  const auto count = [&](auto&& condition) {
    return std::count_if(decision.trials.begin(), decision.trials.end(), condition);
  };
  const auto allowed = count([](const Trial& trial) { return trial.predicted_seconds > 0; });
  switch (decision.source) {
    case Source::only_choice:
      return "it is the only one allowed";
    case Source::model:
      return fmt::format("the machine model: best predicted of {}, nothing was run", allowed);
    case Source::wisdom:
      return decision.trials[decision.winner].reason.empty()
                 ? "wisdom: an earlier measurement of this problem on this device"
                 : decision.trials[decision.winner].reason;
    case Source::measurement:
      return fmt::format("measurement: the {} of {} run, {} allowed",
                         decision.trials[decision.winner].measured_joules > 0 ? "least energy" : "fastest",
                         count([](const Trial& trial) { return trial.measured_seconds > 0; }), allowed);
  }
  return "";
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

std::string seconds_or_dash(double seconds) { return seconds > 0 ? base::human_seconds(seconds) : "-"; }

// Order: measured, then predicted, each fastest first, then refused.
std::vector<Trial> losers_of(const Decision& decision) {
  std::vector<Trial> losers;
  for (std::size_t i = 0; i < decision.trials.size(); ++i)
    if (i != decision.winner) losers.push_back(decision.trials[i]);
  const auto key = [](double seconds) { return seconds > 0 ? seconds : 1e300; };
  std::stable_sort(losers.begin(), losers.end(), [&](const Trial& a, const Trial& b) {
    return std::pair(key(a.measured_seconds), key(a.predicted_seconds)) <
           std::pair(key(b.measured_seconds), key(b.predicted_seconds));
  });
  return losers;
}

bool is_refused(const Trial& trial) { return trial.predicted_seconds <= 0 && trial.measured_seconds <= 0; }

// Merges refused variants with the same reason into one row under the first name. Nine rows of "needs a power of two"
// would hide the other rows.
std::vector<Trial> refusals_together(const std::vector<Trial>& losers) {
  constexpr std::size_t kMostRows = 2;
  std::vector<Trial> rows;
  std::map<std::string, std::size_t> counts;
  std::set<std::string> named;
  for (const Trial& loser : losers) counts[loser.reason] += is_refused(loser);
  for (const Trial& loser : losers) {
    const bool joined = is_refused(loser) && counts[loser.reason] > kMostRows;
    if (joined && !named.insert(loser.reason).second) continue;
    rows.push_back(loser);
    if (joined) rows.back().name += fmt::format(" and {} more", counts[loser.reason] - 1);
  }
  return rows;
}

}  // namespace

std::string Candidate::name() const {
  if (parameters.empty()) return variant;
  std::string text = variant + "(";
  for (std::size_t i = 0; i < parameters.size(); ++i)
    text += fmt::format("{}{}={}", i == 0 ? "" : ", ", parameters[i].first, parameters[i].second);
  return text + ")";
}

std::string Decision::explain() const {
  if (winner >= trials.size()) return "nothing has been decided\n";
  const Trial& best = trials[winner];
  const double seconds = best.measured_seconds > 0 ? best.measured_seconds : best.predicted_seconds;

  std::string text = problem.key + "\n";
  const auto line = [&](const char* what, const std::string& value) {
    if (!value.empty()) text += fmt::format("  {:<10} {}\n", what, value);
  };
  line("device", device);
  line("variant", best.name);
  line("time", time_of(best, source));
  line("rate", rate_of(problem, seconds));
  const bool energy = best.measured_joules > 0;
  if (energy)
    line("energy", fmt::format("{:.3g} J per run, {:.3g} W{}", best.measured_joules, best.measured_joules / seconds,
                               problem.flops > 0 ? fmt::format(", {:.3g} GFLOP/s per watt",
                                                               1e-9 * problem.flops / best.measured_joules)
                                                 : ""));
  if (roof_seconds > 0)
    line("roof", fmt::format("{:.0f} % of {}, which allows {}", 100 * roof_seconds / seconds, roof,
                             base::human_seconds(roof_seconds)));
  line("chosen by", choice_of(*this));
  line("planning", base::human_seconds(planning_seconds));

  const std::vector<Trial> losers = refusals_together(losers_of(*this));
  if (losers.empty()) return text;
  std::vector<std::vector<std::string>> rows{{"  others", "predicted", "measured", "why not"}};
  if (energy) rows[0].insert(rows[0].end() - 1, "energy");
  for (const Trial& loser : losers) {
    rows.push_back({fmt::format("  {}", loser.name), seconds_or_dash(loser.predicted_seconds),
                    seconds_or_dash(loser.measured_seconds), first_line(loser.reason)});
    if (energy)
      rows.back().insert(rows.back().end() - 1,
                         loser.measured_joules > 0 ? fmt::format("{:.3g} J", loser.measured_joules) : "-");
  }
  return text + base::table(rows);
}

}  // namespace ridge::planner
