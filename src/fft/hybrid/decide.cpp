#include <algorithm>
#include <numeric>

#include <ridge/machine.hpp>

#include "base/clock.hpp"
#include "fft/hybrid/team.hpp"

namespace ridge::fft {
namespace {

constexpr int kCorrections = 4;
constexpr int kMostRuns = 50;

class Trials {
 public:
  Trials(Team& team, std::uint64_t batch, const std::byte* in, std::byte* out)
      : team_(team), batch_(batch), in_(in), out_(out) {
    verdict.alone.assign(team.size(), 0);
  }

  // The least of a few runs with this sharing, the first of which is cold; kept where nothing was faster yet.
  std::vector<double> run(const Sharing& sharing, double budget) {
    team_.assign(sharing);
    team_.run(Direction::forward, in_, out_);
    std::vector<double> best;
    double sum = 0;
    int runs = 0;
    const double start = base::now();
    for (; runs < 3 || (runs < kMostRuns && base::now() - start < budget); ++runs) {
      const auto seconds = team_.run(Direction::forward, in_, out_);
      sum += seconds.back();
      if (best.empty() || seconds.back() < best.back()) best = seconds;
    }
    if (verdict.best == 0 || best.back() < verdict.best) {
      verdict.best = best.back();
      verdict.mean = sum / runs;
      verdict.sharing = sharing;
      verdict.seconds.assign(best.begin(), best.end() - 1);
      for (std::size_t i = 0; i < team_.size(); ++i) {
        if (sharing.transforms[i] == 0) verdict.seconds[i] = 0;
      }
    }
    return best;
  }

  void alone(std::size_t lane, std::size_t cores, double budget) {
    Sharing sharing{std::vector<std::uint64_t>(team_.size(), 0), std::vector<std::size_t>(team_.size(), 0)};
    sharing.transforms[lane] = batch_;
    sharing.cores[lane] = cores;
    const double seconds = run(sharing, budget).back();
    double& best = verdict.alone[lane];
    if (best == 0 || seconds < best) best = seconds;
  }

  void together(const std::vector<std::size_t>& cores, std::vector<double> seconds_an_item, double budget) {
    for (int round = 0; round < kCorrections; ++round) {
      std::vector<machine::Worker> workers;
      for (std::size_t i = 0; i < team_.size(); ++i) {
        workers.push_back({.name = team_.device(i), .seconds_per_item = seconds_an_item[i]});
      }
      auto counts = machine::split(workers, batch_).items;
      round_to_grains(counts);
      const auto took = run({counts, cores}, budget / kCorrections);
      for (std::size_t i = 0; i < team_.size(); ++i) {
        if (counts[i] > 0) seconds_an_item[i] = took[i] / static_cast<double>(counts[i]);
      }
    }
  }

  Verdict verdict;

 private:
  // Devices take whole pieces and the host the rest: an odd piece would need a plan of its own.
  void round_to_grains(std::vector<std::uint64_t>& counts) const {
    for (std::size_t rest = 0; rest < team_.size(); ++rest) {
      if (!team_.is_host(rest)) continue;
      for (std::size_t i = 0; i < team_.size(); ++i) {
        const std::uint64_t off = counts[i] % team_.grain(i);
        counts[i] -= off;
        counts[rest] += off;
      }
    }
  }

  Team& team_;
  std::uint64_t batch_;
  const std::byte* in_;
  std::byte* out_;
};

// How many cores each device besides the host may get: one where nothing is copied, else a few shares to try.
std::vector<std::size_t> counts_to_try(std::size_t cores, std::size_t devices, bool copies) {
  if (!copies || devices == 0) return {1};
  std::vector<std::size_t> counts;
  for (const std::size_t eighths : {1, 2, 4, 6, 8}) {
    const std::size_t count = std::max<std::size_t>(1, cores * eighths / 8 / devices);
    if (counts.empty() || counts.back() != count) counts.push_back(count);
  }
  return counts;
}

}  // namespace

Verdict decide(Team& team, std::uint64_t batch, std::size_t cores, bool copies, const std::byte* in, std::byte* out,
               double seconds) {
  Trials trials(team, batch, in, out);
  std::size_t devices = 0;
  for (std::size_t i = 0; i < team.size(); ++i) devices += !team.is_host(i);
  const auto counts = counts_to_try(cores, devices, copies);
  const double part = seconds / static_cast<double>(counts.size() * (team.size() + 1) + 2);
  for (std::size_t i = 0; i < team.size(); ++i) {
    if (team.is_host(i)) {
      trials.alone(i, cores, part);
    } else {
      for (const std::size_t count : counts) trials.alone(i, count, part);
    }
  }
  for (const std::size_t count : counts) {
    if (team.size() == 1) break;
    // What is left for the host's own transforms; on a machine of few cores its threads share them.
    const std::size_t left = std::max<std::size_t>(1, cores - std::min(cores, count * devices));
    std::vector<std::size_t> shared(team.size(), count);
    std::vector<double> seconds_an_item;
    for (std::size_t i = 0; i < team.size(); ++i) {
      seconds_an_item.push_back(trials.verdict.alone[i] / static_cast<double>(batch));
      if (!team.is_host(i)) continue;
      shared[i] = left;
      seconds_an_item[i] *= static_cast<double>(cores) / static_cast<double>(left);
    }
    trials.together(shared, seconds_an_item, part);
  }
  team.assign(trials.verdict.sharing);
  trials.verdict.rates = team.rates(in, out, 2 * part);
  return trials.verdict;
}

}  // namespace ridge::fft
