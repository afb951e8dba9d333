// Choice of snapshots and states.
#include "stencil/shots/history.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/text.hpp"

namespace ridge::stencil {
namespace {

constexpr std::size_t kMostBlocks = 256, kMostStates = 32;
constexpr double kMostRecomputation = 30;  // a run that takes longer is refused

// Fewest blocks computed to reverse a range, by dynamic programming: advance by j blocks, keep that state, reverse the
// rest with one state fewer, then the first j blocks.
struct BlockCosts {
  std::array<std::array<double, kMostBlocks + 1>, kMostStates + 1> cost{};
  std::array<std::array<std::size_t, kMostBlocks + 1>, kMostStates + 1> advance{};
  BlockCosts() {
    for (std::size_t states = 0; states <= kMostStates; ++states) {
      cost[states][1] = 1;
      for (std::size_t blocks = 2; blocks <= kMostBlocks; ++blocks) {
        if (states == 0) {
          cost[0][blocks] = static_cast<double>(blocks) * static_cast<double>(blocks + 1) / 2;
          continue;
        }
        double best = std::numeric_limits<double>::infinity();
        for (std::size_t j = 1; j < blocks; ++j) {
          const double all = static_cast<double>(j) + cost[states - 1][blocks - j] + cost[states][j];
          if (all < best) {
            best = all;
            advance[states][blocks] = j;
          }
        }
        cost[states][blocks] = best;
      }
    }
  }
};

const BlockCosts& block_costs() {
  static const BlockCosts costs;
  return costs;
}

std::optional<History> whole_run(const HistoryProblem& problem, SnapshotBits bits, std::size_t every) {
  History history{.bits = bits, .every = every, .block = problem.steps};
  const bool small = bits != SnapshotBits::whole;
  history.bytes = problem.fixed + (small ? problem.scratch : 0) +
                  static_cast<double>(history.slots()) * (small ? problem.small : problem.whole);
  if (history.bytes > problem.budget) return std::nullopt;
  return history;
}

std::optional<History> with_states(const HistoryProblem& problem) {
  std::optional<History> best;
  for (std::size_t blocks = 2; blocks <= std::min(kMostBlocks, problem.steps); ++blocks) {
    History history{.block = (problem.steps + blocks - 1) / blocks};
    const std::size_t count = (problem.steps + history.block - 1) / history.block;
    const double left = problem.budget - problem.fixed - static_cast<double>(history.block) * problem.whole;
    if (left < 0) continue;
    history.states = static_cast<std::size_t>(
        std::min({left / problem.state, static_cast<double>(kMostStates), static_cast<double>(count - 1)}));
    history.recomputation = blocks_computed(count, history.states) * static_cast<double>(history.block) /
                            static_cast<double>(problem.steps);
    history.bytes = problem.fixed + static_cast<double>(history.block) * problem.whole +
                    static_cast<double>(history.states) * problem.state;
    if (!best || history.recomputation < best->recomputation) best = history;
  }
  if (best && best->recomputation > kMostRecomputation) return std::nullopt;
  return best;
}

std::optional<History> with_rewinding(const HistoryProblem& problem) {
  if (!problem.reversible) return std::nullopt;
  History history{.rewinds = true, .block = problem.steps, .recomputation = 2};
  history.bytes = problem.fixed + problem.rewind + problem.whole + static_cast<double>(problem.steps) * problem.frame;
  if (history.bytes > problem.budget) return std::nullopt;
  return history;
}

std::optional<History> chosen_history(const HistoryProblem& problem) {
  if (problem.backwards) return with_rewinding(problem);
  if (auto history = whole_run(problem, SnapshotBits::whole, 1)) return history;
  for (std::size_t every = 1; !problem.exact && every <= std::max<std::size_t>(1, problem.most_every); ++every) {
    if (auto history = whole_run(problem, problem.bits, every)) return history;
  }
  const auto rewinding = with_rewinding(problem), states = with_states(problem);
  return !states || (rewinding && rewinding->recomputation < states->recomputation) ? rewinding : states;
}

std::string explained(const History& history, const HistoryProblem& problem) {
  if (history.rewinds)
    return fmt::format(
        "values next to the sides after every step, from which the run is computed backwards (exact up to rounding); "
        "{} "
        "of {}; {:.3g} forward steps per step",
        base::human_bytes(history.bytes), base::human_bytes(problem.budget), history.recomputation);
  std::string text = fmt::format("{} snapshots of every {}",
                                 history.bits == SnapshotBits::whole     ? "exact"
                                 : history.bits == SnapshotBits::sixteen ? "16-bit"
                                                                         : "8-bit",
                                 history.every == 1 ? "step" : fmt::format("{} steps", history.every));
  if (history.block < problem.steps)
    text += fmt::format(" for blocks of {} steps, and {} states from which blocks are computed again", history.block,
                        history.states);
  text += fmt::format("; {} of {}; {:.3g} forward steps per step", base::human_bytes(history.bytes),
                      base::human_bytes(problem.budget), history.recomputation);
  if (history.bits != SnapshotBits::whole)
    text += fmt::format("; each value is within {:.2g} of the largest of its {} neighbours",
                        0.51 / largest_of(history.bits), kSnapshotBlock);
  if (history.every > 1) text += fmt::format("; up to {} steps resolve the shortest period", problem.most_every);
  return text;
}

}  // namespace

std::size_t blocks_to_advance(std::size_t blocks, std::size_t states) {
  return states == 0 ? blocks - 1 : block_costs().advance[std::min(states, kMostStates)][blocks];
}

double blocks_computed(std::size_t blocks, std::size_t states) {
  return block_costs().cost[std::min(states, kMostStates)][blocks];
}

History plan_history(const HistoryProblem& problem) {
  if (auto history = chosen_history(problem)) {
    history->explain = explained(*history, problem);
    return *history;
  }
  HistoryProblem larger = problem;
  larger.budget = problem.fixed + problem.whole;
  while (!chosen_history(larger)) larger.budget += std::max(problem.state, 0.05 * larger.budget);
  throw Error(ErrorKind::invalid_argument,
              fmt::format("a memory budget of {} is too small for a gradient: the fields alone take {}, and {} suffice",
                          base::human_bytes(problem.budget), base::human_bytes(problem.fixed),
                          base::human_bytes(larger.budget)));
}

}  // namespace ridge::stencil
