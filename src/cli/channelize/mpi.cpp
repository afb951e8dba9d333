// Distributes the root's stream over MPI processes by stations.
#include "cli/channelize/mpi.hpp"

#include <algorithm>
#include <array>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/error.hpp>

namespace ridge::cli {

DistributedStations::DistributedStations(const StationWork& work, const Device& device, const mpi::Communicator& all)
    : all_(all), geometry_(filterbank::resolve(work.problem)) {
  const mpi::filterbank::Options options{.planning = work.options};
  mpi::Part mine{};
  if (work.detection) {
    power_.emplace(all, device, work.problem, *work.detection, options);
    time_size_ = power_->whole_row_size();
    times_each_ = work.detection->times;
    mine = power_->stations();
    variant_ = power_->variant();
  } else {
    const mpi::filterbank::Plan plan(all, device, work.problem, options);
    stream_.emplace(plan);
    time_size_ = 2 * plan.whole_spectrum_size();
    mine = plan.stations();
    variant_ = plan.variant();
  }
  const std::uint64_t own = mine.end - mine.begin;
  std::vector<std::uint64_t> stations(all.count());
  all.gather(&own, sizeof own, stations.data());
  stations.erase(std::remove(stations.begin(), stations.end(), 0u),
                 stations.end());  // processes too slow to contribute
  if (stations.size() > 1) {
    variant_ +=
        fmt::format(", {} stations over {} processes by their speed", fmt::join(stations, " + "), stations.size());
  }
}

DistributedStations::~DistributedStations() {
  if (!all_.root()) return;
  try {
    tell(Word::end, 0);
  } catch (const Error&) {  // the other processes have already ended
  }
}

void DistributedStations::tell(Word word, std::uint64_t number) {
  std::array<std::uint64_t, 2> message{static_cast<std::uint64_t>(word), number};
  all_.broadcast(message.data(), sizeof message);
}

void DistributedStations::serve() {
  for (;;) {
    std::array<std::uint64_t, 2> message{};
    all_.broadcast(message.data(), sizeof message);
    switch (static_cast<Word>(message[0])) {
      case Word::start:
        start(message[1]);
        break;
      case Word::push:
        take({}, {});
        break;
      default:
        return;
    }
  }
}

std::uint64_t DistributedStations::start_at(std::uint64_t spectrum) {
  tell(Word::start, spectrum);
  return start(spectrum);
}

std::uint64_t DistributedStations::start(std::uint64_t spectrum) {
  const std::uint64_t sample = power_ ? power_->start_at(spectrum) : stream_->start_at(spectrum);
  first_ = spectrum;
  bytes_ = sample * (geometry_.frame_bytes() / geometry_.block);
  return sample;
}

std::size_t DistributedStations::push(std::span<const std::byte> in, std::span<float> out, bool) {
  tell(Word::push, 0);
  bytes_ += in.size();
  return take(in, out);
}

std::size_t DistributedStations::take(std::span<const std::byte> in, std::span<float> out) {
  if (power_) return power_->push_from_root(in, out);
  return stream_->push_from_root(in, std::span(reinterpret_cast<std::complex<float>*>(out.data()), out.size() / 2));
}

std::uint64_t DistributedStations::spectra() const { return std::max(first_, geometry_.spectra_in(bytes_)); }

void DistributedStations::set_delays(std::uint64_t sample, std::span<const double> delays) {
  stream_->set_delays(sample, delays);
}

void DistributedStations::replace_weights(std::uint64_t sample, const std::vector<double>& weights) {
  stream_->replace_weights(weights, sample);
}

}  // namespace ridge::cli
