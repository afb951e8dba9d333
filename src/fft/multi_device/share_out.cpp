// Divides a batch among host and devices by trial runs in which all of them work at the same time.
#include <algorithm>
#include <numeric>

#include <ridge/machine.hpp>

#include "base/clock.hpp"
#include "fft/multi_device/workers.hpp"

namespace ridge::fft {
namespace {

constexpr int kCorrections = 4;
constexpr std::size_t kLeastRuns = 5, kMostRuns = 50;

class Trials {
 public:
  Trials(Workers& workers, std::uint64_t batch, const std::byte* in, std::byte* out)
      : workers_(workers), batch_(batch), in_(in), out_(out) {
    division.alone.assign(workers.size(), 0);
  }

  // Returns the median of a few runs after a cold one, and keeps the sharing if it is the fastest so far.
  std::vector<double> run(const Sharing& sharing, double budget) {
    workers_.assign(sharing);
    workers_.run(Direction::forward, in_, out_);
    std::vector<std::vector<double>> runs;
    const double start = base::now();
    while (runs.size() < kLeastRuns || (runs.size() < kMostRuns && base::now() - start < budget)) {
      runs.push_back(workers_.run(Direction::forward, in_, out_));
    }
    std::sort(runs.begin(), runs.end(), [](const auto& a, const auto& b) { return a.back() < b.back(); });
    const std::vector<double>& median = runs[runs.size() / 2];
    if (division.median == 0 || median.back() < division.median) {
      division.median = median.back();
      division.best = runs.front().back();
      division.sharing = sharing;
      division.seconds.assign(median.begin(), median.end() - 1);
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        if (sharing.transforms[i] == 0) division.seconds[i] = 0;
      }
    }
    return median;
  }

  void alone(std::size_t worker, std::size_t cores, double budget) {
    Sharing sharing{std::vector<std::uint64_t>(workers_.size(), 0), std::vector<std::size_t>(workers_.size(), 0)};
    sharing.transforms[worker] = batch_;
    sharing.cores[worker] = cores;
    const double seconds = run(sharing, budget).back();
    double& best = division.alone[worker];
    if (best == 0 || seconds < best) best = seconds;
  }

  void together(const std::vector<std::size_t>& cores, std::vector<double> seconds_per_item, double budget) {
    for (int round = 0; round < kCorrections; ++round) {
      std::vector<machine::Worker> workers;
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        workers.push_back({.name = workers_.device(i), .seconds_per_item = seconds_per_item[i]});
      }
      auto counts = machine::split(workers, batch_).items;
      round_to_grains(counts);
      const auto took = run({counts, cores}, budget / kCorrections);
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        if (counts[i] > 0) seconds_per_item[i] = took[i] / static_cast<double>(counts[i]);
      }
    }
  }

  Division division;

 private:
  // Devices get whole blocks and the host the rest: an incomplete block would need a plan of its own.
  void round_to_grains(std::vector<std::uint64_t>& counts) const {
    for (std::size_t rest = 0; rest < workers_.size(); ++rest) {
      if (!workers_.is_host(rest)) continue;
      for (std::size_t i = 0; i < workers_.size(); ++i) {
        const std::uint64_t off = counts[i] % workers_.grain(i);
        counts[i] -= off;
        counts[rest] += off;
      }
    }
  }

  Workers& workers_;
  std::uint64_t batch_;
  const std::byte* in_;
  std::byte* out_;
};

// Cores for the host's own transforms, and cores per device.
struct CoreCounts {
  std::size_t host, device;
  bool operator==(const CoreCounts&) const = default;
};

// Without staging copies a device needs one core, and leaving one core or a quarter of them idle may be faster than
// threads that wait for each other. With copies, several fractions are tried. On a machine with few cores threads share
// them.
std::vector<CoreCounts> counts_to_try(std::size_t cores, std::size_t devices, bool copies) {
  std::vector<CoreCounts> counts;
  const auto add = [&](std::size_t idle, std::size_t device) {
    const std::size_t taken = std::min(cores, device * devices + idle);
    const CoreCounts next{std::max<std::size_t>(1, cores - taken), device};
    if (std::find(counts.begin(), counts.end(), next) == counts.end()) counts.push_back(next);
  };
  if (copies && devices > 0) {
    for (const std::size_t eighths : {1, 2, 4, 6, 8}) add(0, std::max<std::size_t>(1, cores * eighths / 8 / devices));
  } else {
    for (const std::size_t idle : {std::size_t{0}, std::size_t{1}, cores / 4}) add(idle, 1);
  }
  return counts;
}

}  // namespace

Division decide(Workers& workers, std::uint64_t batch, std::size_t cores, bool copies, const std::byte* in,
                std::byte* out, double seconds) {
  Trials trials(workers, batch, in, out);
  std::size_t devices = 0;
  for (std::size_t i = 0; i < workers.size(); ++i) devices += !workers.is_host(i);
  const auto counts = counts_to_try(cores, devices, copies);
  const double part = seconds / static_cast<double>(counts.size() * (workers.size() + 1) + 2);
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (workers.is_host(i)) {
      trials.alone(i, cores, part);
    } else {
      std::size_t last = 0;
      for (const CoreCounts& count : counts) {
        if (count.device != last) trials.alone(i, count.device, part);
        last = count.device;
      }
    }
  }
  for (const CoreCounts& count : counts) {
    if (workers.size() == 1) break;
    std::vector<std::size_t> shared(workers.size(), count.device);
    std::vector<double> seconds_per_item;
    for (std::size_t i = 0; i < workers.size(); ++i) {
      seconds_per_item.push_back(trials.division.alone[i] / static_cast<double>(batch));
      if (!workers.is_host(i)) continue;
      shared[i] = count.host;
      seconds_per_item[i] *= static_cast<double>(cores) / static_cast<double>(count.host);
    }
    trials.together(shared, seconds_per_item, part);
  }
  workers.assign(trials.division.sharing);
  trials.division.rates = workers.rates(in, out, 2 * part);
  return trials.division;
}

}  // namespace ridge::fft
