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
#include "stencil/shots/snapshot_store.hpp"

namespace ridge::stencil {
namespace {

constexpr std::size_t kMostBlocks = 256, kMostStates = 96;
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

// Copies of states made by reverse_blocks().
struct StateCopies {
  double saved = 0, restored = 0;
};

StateCopies state_copies(std::size_t blocks, std::size_t states) {
  struct Counter {
    StateCopies copies{};
    void restore(int state) { copies.restored += state > 0 ? 1 : 0; }
    void advance(std::size_t, std::size_t) {}
    int save() {
      ++copies.saved;
      return 1;
    }
    void reverse(std::size_t) {}
  } counter;
  reverse_blocks(counter, 0, blocks, states, 0);
  return counter.copies;
}

double small_of(const HistoryProblem& problem, SnapshotBits bits) {
  return bits == SnapshotBits::eight ? problem.eighth : problem.sixteenth;
}

// Time in runs forward: forward and adjoint steps, snapshots written and correlated, copies of states.
double time_of(const History& history, const HistoryProblem& problem) {
  const auto steps = static_cast<double>(problem.steps);
  const double run = steps * problem.step;
  double moved = (history.recomputation + 1) * run;
  const double each = history.bits == SnapshotBits::whole ? problem.whole_accesses * problem.whole
                                                          : 9 * problem.whole + 2 * small_of(problem, history.bits);
  moved += each * std::ceil(steps / static_cast<double>(history.every));
  if (history.rewinds) moved += 4 * steps * problem.frame;
  double seconds = moved / problem.memory_rate;
  const std::size_t blocks = (problem.steps + history.block - 1) / history.block;
  if (problem.states_elsewhere > 0 && blocks > 1 && history.states + 1 == blocks) {
    // Copied while the run continues.
    seconds = std::max(seconds, 2 * static_cast<double>(blocks) * problem.state / problem.state_rate);
  } else if (blocks > 1) {
    const StateCopies copies = state_copies(blocks, history.states);
    seconds += (copies.saved + copies.restored) * problem.state / problem.state_rate;
  }
  return seconds / (run / problem.memory_rate);
}

// All snapshots in host memory, copied over the link while the runs continue; nothing if they do not fit.
std::optional<History> with_streams(const HistoryProblem& problem, SnapshotBits bits, std::size_t every) {
  History history{.bits = bits, .streams = true, .every = every, .block = problem.steps};
  const double small = small_of(problem, bits);
  history.bytes = problem.fixed + problem.scratch + static_cast<double>(kSnapshotPlaces) * small;
  history.elsewhere = static_cast<double>(history.slots()) * small;
  if (history.bytes > problem.budget || history.elsewhere > problem.states_elsewhere) return std::nullopt;
  history.error = error_of(bits) + (every > 1 ? problem.skipping[every - 1] : 0);
  const double run = static_cast<double>(problem.steps) * problem.step / problem.memory_rate;
  const double copies = 2 * history.elsewhere / problem.state_rate;
  history.time = std::max(1.02 * time_of(history, problem), copies / run);
  return history;
}

// A history of exactly `blocks` blocks of steps; nothing if there is none, or if it does not fit or takes too long.
std::optional<History> with_blocks(const HistoryProblem& problem, SnapshotBits bits, std::size_t every,
                                   std::size_t blocks) {
  // Whole intervals of `every` steps per block: an uneven distance between snapshots would cause an error that the
  // bound of evenly distributed ones does not contain.
  const std::size_t even = (problem.steps + blocks - 1) / blocks;
  History history{.bits = bits, .every = every, .block = std::min(problem.steps, (even + every - 1) / every * every)};
  const std::size_t count = (problem.steps + history.block - 1) / history.block;
  if (count != blocks) return std::nullopt;
  const bool small = bits != SnapshotBits::whole;
  history.bytes = problem.fixed + (small ? problem.scratch : problem.whole_scratch) +
                  static_cast<double>(history.slots()) * (small ? small_of(problem, bits) : problem.whole);
  if (history.bytes > problem.budget) return std::nullopt;
  const bool elsewhere = problem.states_elsewhere > 0;
  const double left = elsewhere ? problem.states_elsewhere : problem.budget - history.bytes;
  history.states = static_cast<std::size_t>(
      std::min({left / problem.state, static_cast<double>(kMostStates), static_cast<double>(count - 1)}));
  (elsewhere ? history.elsewhere : history.bytes) += static_cast<double>(history.states) * problem.state;
  history.recomputation =
      blocks_computed(count, history.states) * static_cast<double>(history.block) / static_cast<double>(problem.steps);
  if (history.recomputation > kMostRecomputation) return std::nullopt;
  // Copies of all states overlap with the run; two are on the device.
  if (elsewhere && blocks > 1 && history.states + 1 == count)
    history.bytes += static_cast<double>(kSnapshotPlaces) * problem.state;
  if (history.bytes > problem.budget) return std::nullopt;
  history.error = error_of(bits) + (every > 1 ? problem.skipping[every - 1] : 0);
  history.time = time_of(history, problem);
  return history;
}

std::optional<History> with_rewinding(const HistoryProblem& problem) {
  if (!problem.reversible) return std::nullopt;
  History history{.rewinds = true, .block = problem.steps, .recomputation = 2};
  history.bytes = problem.fixed + problem.rewind + problem.whole + static_cast<double>(problem.steps) * problem.frame;
  if (history.bytes > problem.budget) return std::nullopt;
  history.time = time_of(history, problem);
  return history;
}

bool better(const History& one, const History& other) {
  const double least = std::min(one.time, other.time);
  if (one.time > 1.1 * least || other.time > 1.1 * least) return one.time < other.time;
  return one.error != other.error ? one.error < other.error : one.time < other.time;
}

// The best history for each kind of snapshots, and rewinding.
std::vector<History> candidates(const HistoryProblem& problem) {
  std::vector<History> found;
  const auto rewinding = with_rewinding(problem);
  if (rewinding) found.push_back(*rewinding);
  if (problem.backwards) return found;
  const double allowed = problem.error + (problem.only_bits == 8 ? error_of(SnapshotBits::eight) : 0);
  for (const SnapshotBits bits : {SnapshotBits::whole, SnapshotBits::sixteen, SnapshotBits::eight}) {
    const bool whole = bits == SnapshotBits::whole;
    const int number = bits == SnapshotBits::eight ? 8 : 16;
    if (!whole && (problem.error == 0 || problem.eighth == 0 || (problem.only_bits > 0 && problem.only_bits != number)))
      continue;
    std::optional<History> best;
    for (std::size_t every = 1; every <= (whole ? 1 : problem.skipping.size()); ++every) {
      if (!whole && error_of(bits) + (every > 1 ? problem.skipping[every - 1] : 0) > allowed) continue;
      for (std::size_t blocks = 1; blocks <= std::min(kMostBlocks, problem.steps); ++blocks) {
        const auto one = with_blocks(problem, bits, every, blocks);
        if (!one) continue;
        if (!best || better(*one, *best)) best = one;
        if (blocks == 1) break;  // fits at once: blocks would only add steps
      }
    }
    const bool fits = best && best->block == problem.steps;
    for (std::size_t every = 1; !whole && !fits && every <= problem.skipping.size(); ++every) {
      if (error_of(bits) + (every > 1 ? problem.skipping[every - 1] : 0) > allowed) continue;
      const auto one = with_streams(problem, bits, every);
      if (one && (!best || better(*one, *best))) best = one;
    }
    if (best) found.push_back(*best);
  }
  return found;
}

std::string name_of(const History& history, const HistoryProblem& problem) {
  if (history.rewinds) return "values next to the sides after every step, from which the run is computed backwards";
  std::string text = fmt::format("{} snapshots of every {}",
                                 history.bits == SnapshotBits::whole     ? "exact"
                                 : history.bits == SnapshotBits::sixteen ? "16-bit"
                                                                         : "8-bit",
                                 history.every == 1 ? "step" : fmt::format("{} steps", history.every));
  if (history.streams) text += " in host memory";
  if (history.block < problem.steps)
    text += fmt::format(" for blocks of {} steps, and {} states from which blocks are computed again", history.block,
                        history.states);
  return text;
}

std::string figures_of(const History& history, const HistoryProblem& problem) {
  std::string text = fmt::format("{} of {}", base::human_bytes(history.bytes), base::human_bytes(problem.budget));
  if (history.elsewhere > 0) text += fmt::format(" and {} of host memory", base::human_bytes(history.elsewhere));
  text += fmt::format("; {:.3g} forward steps per step; expected {:.3g} of a run forward; ", history.recomputation,
                      history.time);
  return text +
         (history.error > 0 ? fmt::format("error up to {:.2g}", history.error) : std::string("exact up to rounding"));
}

std::string explained(const History& history, const std::vector<History>& all, const HistoryProblem& problem) {
  std::string text = fmt::format("{}; {}", name_of(history, problem), figures_of(history, problem));
  for (const History& other : all) {
    if (other.bits == history.bits && other.rewinds == history.rewinds) continue;
    text += fmt::format("\n  instead of {}; {}", name_of(other, problem), figures_of(other, problem));
  }
  return text;
}

const History* best_of(const std::vector<History>& all) {
  const History* best = nullptr;
  for (const History& one : all) {
    if (best == nullptr || better(one, *best)) best = &one;
  }
  return best;
}

}  // namespace

std::size_t blocks_to_advance(std::size_t blocks, std::size_t states) {
  return states == 0 ? blocks - 1 : block_costs().advance[std::min(states, kMostStates)][blocks];
}

double blocks_computed(std::size_t blocks, std::size_t states) {
  return block_costs().cost[std::min(states, kMostStates)][blocks];
}

History plan_history(const HistoryProblem& given) {
  HistoryProblem problem = given;
  if (problem.step == 0) problem.step = 2 * problem.whole;
  const std::vector<History> all = candidates(problem);
  if (const History* best = best_of(all)) {
    History history = *best;
    history.explain = explained(history, all, problem);
    return history;
  }
  HistoryProblem larger = problem;
  larger.budget = problem.fixed + problem.whole + problem.whole_scratch;
  while (candidates(larger).empty()) larger.budget += std::max(problem.state, 0.05 * larger.budget);
  throw Error(ErrorKind::invalid_argument,
              fmt::format("a memory budget of {} is too small for a gradient: the fields alone take {}, and {} suffice",
                          base::human_bytes(problem.budget), base::human_bytes(problem.fixed),
                          base::human_bytes(larger.budget)));
}

}  // namespace ridge::stencil
