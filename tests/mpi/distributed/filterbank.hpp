// Distributed filter banks against one bank in one process, bit for bit.
#pragma once
#include <algorithm>
#include <complex>
#include <cstring>
#include <string>
#include <vector>

#include <ridge/mpi.hpp>

#include "random_boxes.hpp"

namespace distributed {

using Value = std::complex<float>;
namespace bank = ridge::filterbank;
namespace distributed_bank = ridge::mpi::filterbank;

// Extracts the samples of some stations from a stream.
inline std::vector<std::byte> bytes_of_stations(const std::vector<std::byte>& stream, std::size_t block,
                                                std::size_t stations, const ridge::mpi::Part& mine) {
  std::vector<std::byte> own;
  const std::size_t station = block, frame = station * stations;
  for (std::size_t at = 0; at + frame <= stream.size(); at += frame) {
    own.insert(own.end(), stream.begin() + static_cast<std::ptrdiff_t>(at + mine.begin * station),
               stream.begin() + static_cast<std::ptrdiff_t>(at + mine.end * station));
  }
  return own;
}

// Correlations of all pairs of stations from each process's spectra, against those of one correlator; `same` compares.
template <class Same>
void correlations(Random& random, const bank::Problem& problem, const distributed_bank::Plan& plan,
                  const std::vector<Value>& wanted, const std::vector<Value>& spectra, std::size_t times,
                  const Same& same) {
  const bank::Correlation correlation{.times = 2 + below(random, 3), .channels = 1 + below(random, 2)};
  bank::Correlator alone(problem, correlation);
  std::vector<Value> pairs(alone.due(times) * alone.size());
  alone.push(wanted, pairs);
  distributed_bank::Correlator correlator(plan, correlation);
  std::vector<Value> own_pairs, expected;
  for (std::size_t first = 0; first < times;) {
    const std::size_t now = std::min(times - first, 1 + below(random, times));
    std::vector<Value> out(correlator.due(now) * correlator.size());
    correlator.push(std::span<const Value>(spectra).subspan(first * plan.spectrum_size(), now * plan.spectrum_size()),
                    now, out);
    own_pairs.insert(own_pairs.end(), out.begin(), out.end());
    first += now;
  }
  const std::size_t products = problem.polarizations * problem.polarizations, summed = alone.channels();
  for (std::size_t row = 0; row < pairs.size() / (summed * products); ++row) {
    const auto from =
        pairs.begin() + static_cast<std::ptrdiff_t>((row * summed + correlator.channels().begin) * products);
    expected.insert(
        expected.end(), from,
        from + static_cast<std::ptrdiff_t>((correlator.channels().end - correlator.channels().begin) * products));
  }
  same(own_pairs, expected, "correlations differ");
}

// Power, from a stream read by the root.
template <class Fail>
void power_from_root(const ridge::mpi::Communicator& all, Random& random, const bank::Problem& problem,
                     const distributed_bank::Options& options, const std::vector<std::byte>& stream, const Fail& fail) {
  const ridge::planner::Options quick{.effort = ridge::Effort::quick};
  const bank::Detection detection{.products = bank::Products::powers, .times = 1 + below(random, 3)};
  bank::PowerStream power(ridge::host(), problem, detection, quick);
  std::vector<float> sums(power.due(stream.size()) * power.row_size()), their_sums(sums.size());
  power.push(stream, sums);
  distributed_bank::PowerStream distributed_power(all, ridge::host(), problem, detection, options);
  distributed_power.push_from_root(stream, their_sums);
  if (all.root() && sums != their_sums) fail("filterbank: the power at the root differs");
}

template <class Fail>
void filterbank(const ridge::mpi::Communicator& all, Random& random, const Fail& fail) {
  const std::size_t channels = 4 * (1 + below(random, 6));
  bank::Problem problem{.channels = channels,
                        .taps = 1 + below(random, 5),
                        .stations = 1 + below(random, 7),
                        .polarizations = 1 + below(random, 2),
                        .samples = below(random, 2) == 0 ? bank::Samples::int8 : bank::Samples::float32,
                        .oversampling = below(random, 2) == 0 ? bank::Ratio{4, 3} : bank::Ratio{1, 1},
                        .threads = 1};
  const bool by_channel = below(random, 4) == 0;
  if (by_channel) problem.order = bank::Order::channel, problem.output_times = 1 + below(random, 4);
  const ridge::planner::Options quick{.effort = ridge::Effort::quick};
  distributed_bank::Options options{.planning = quick};
  if (below(random, 2) == 0) {  // distributed explicitly, some processes without stations
    options.stations.assign(all.count(), 0);
    for (std::size_t s = 0; s < problem.stations; ++s) ++options.stations[below(random, all.count())];
  }
  const std::size_t station_bytes = channels * problem.polarizations * bank::bytes_of(problem.samples);
  const std::size_t frames = 3 + problem.taps + below(random, 12);
  std::vector<std::byte> stream(frames * problem.stations * station_bytes);
  for (std::size_t i = 0; i < stream.size(); i += sizeof(float)) {
    const float sample = static_cast<float>(random() % 256) - 128;
    if (problem.samples == bank::Samples::float32) {
      std::memcpy(stream.data() + i, &sample, sizeof sample);
    } else {
      for (std::size_t j = i; j < std::min(stream.size(), i + 4); ++j) stream[j] = static_cast<std::byte>(random());
    }
  }

  const bank::Plan whole(ridge::host(), problem, quick);
  std::vector<Value> wanted(bank::Stream(whole).due(stream.size()) * whole.spectrum_size());
  const std::size_t times = whole.run(stream, wanted);

  const distributed_bank::Plan plan(all, ridge::host(), problem, options);
  std::vector<Value> got(wanted.size(), Value(-1, -1));
  const auto same = [&](const std::vector<Value>& a, const std::vector<Value>& b, const char* what) {
    if (a.size() != b.size() || std::memcmp(a.data(), b.data(), a.size() * sizeof a[0]) != 0) {
      fail(std::string("filterbank: ") + what + " on " + std::to_string(all.count()));
    }
  };
  {  // The root's stream, in pushes of random length.
    distributed_bank::Stream distributed(plan);
    std::size_t at = 0, made = 0;
    while (at < stream.size()) {
      const std::size_t bytes = std::min(stream.size() - at, 1 + below(random, stream.size()));
      const std::size_t due = distributed.due_from_root(bytes) * whole.spectrum_size();
      const std::size_t now = distributed.push_from_root(std::span(stream).subspan(at, all.root() ? bytes : 0),
                                                         std::span(got).subspan(made, all.root() ? due : 0));
      if (now * whole.spectrum_size() != due) fail("filterbank: pushed a different number of spectra than due");
      made += due;
      at += bytes;
    }
    if (all.root()) same(got, wanted, "spectra at the root differ");
  }
  if (by_channel) return;
  // Each process reads its own stations; all pairs are correlated.
  const ridge::mpi::Part mine = plan.stations();
  const std::vector<std::byte> own = bytes_of_stations(stream, station_bytes, problem.stations, mine);
  distributed_bank::Stream distributed(plan);
  std::vector<Value> spectra(times * plan.spectrum_size()), part;
  if (distributed.push(own, spectra) != (mine.end > mine.begin ? times : 0))
    fail("filterbank: the number of spectra differs");
  for (std::size_t row = 0; row < times * problem.polarizations; ++row) {
    const auto from = wanted.begin() + static_cast<std::ptrdiff_t>((row * problem.stations + mine.begin) * channels);
    part.insert(part.end(), from, from + static_cast<std::ptrdiff_t>((mine.end - mine.begin) * channels));
  }
  same(spectra, part, "spectra of this process's stations differ");
  correlations(random, problem, plan, wanted, spectra, times, same);
  power_from_root(all, random, problem, options, stream, fail);
}

}  // namespace distributed
