// Divides stations in proportion to measured rates.
#include "mpi/filterbank/shares.hpp"

#include <algorithm>
#include <random>

#include <ridge/machine.hpp>

#include "base/clock.hpp"
#include "filterbank/geometry.hpp"

namespace ridge::mpi::filterbank {

ridge::filterbank::Problem problem_of(const ridge::filterbank::Problem& problem, const Part& stations) {
  ridge::filterbank::Problem part = problem;
  part.stations = stations.end - stations.begin;
  if (problem.bandpass.size() > problem.channels) {
    part.bandpass.clear();
    for (std::size_t p = 0; p < problem.polarizations; ++p) {
      const auto from = problem.bandpass.begin() + static_cast<std::ptrdiff_t>(p * problem.stations * problem.channels);
      part.bandpass.insert(part.bandpass.end(), from + static_cast<std::ptrdiff_t>(stations.begin * problem.channels),
                           from + static_cast<std::ptrdiff_t>(stations.end * problem.channels));
    }
  }
  return part;
}

double seconds_of_station(const Device& device, const ridge::filterbank::Problem& problem,
                          const std::optional<ridge::filterbank::Detection>& detection, const planner::Options& options,
                          std::size_t stations) {
  constexpr std::size_t kLeastBytes = std::size_t{1} << 20;
  ridge::filterbank::Problem trial = problem_of(problem, {0, stations});
  trial.delays = {};
  planner::Options quick = options;
  quick.effort = Effort::quick;
  const ridge::filterbank::Geometry g = ridge::filterbank::resolve(trial);
  const std::size_t samples =
      std::max(2 * g.channels * g.taps, kLeastBytes / (g.stations * g.polarizations * g.sample_bytes));
  std::vector<std::byte> bytes((samples / g.block + 1) * g.frame_bytes());
  std::minstd_rand random(1);
  for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() >> 8);
  std::vector<float> out;
  const auto best_of = [&](const auto& push) {
    double best = 0;
    for (int round = 0; round < 3; ++round) {
      const double start = base::now();
      push();
      const double taken = base::now() - start;
      if (round > 0 && (best == 0 || taken < best)) best = taken;
    }
    return std::max(best, 1e-9) / static_cast<double>(samples * stations);
  };
  if (detection) {
    ridge::filterbank::PowerStream power(device, trial, *detection, quick);
    return best_of([&] {
      out.resize(power.due(bytes.size()) * power.row_size());
      power.push(bytes, out);
    });
  }
  const ridge::filterbank::Plan plan(device, trial, quick);
  ridge::filterbank::Stream stream(plan);
  return best_of([&] {
    const std::size_t values = stream.due(bytes.size()) * plan.spectrum_size();
    out.resize(2 * values);
    stream.push(bytes, std::span(reinterpret_cast<std::complex<float>*>(out.data()), values));
  });
}

std::vector<Part> shares_by_speed(const std::vector<double>& seconds, std::size_t stations) {
  std::vector<machine::Worker> workers;
  for (const double one : seconds) workers.push_back({.seconds_per_item = one});
  const machine::Split split = machine::split(workers, stations);
  std::vector<Part> shares;
  std::size_t at = 0;
  for (const std::uint64_t items : split.items) {
    shares.push_back({at, at + static_cast<std::size_t>(items)});
    at = shares.back().end;
  }
  return shares;
}

}  // namespace ridge::mpi::filterbank
