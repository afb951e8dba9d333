// Divides the stations among devices and joins their results.
#include "cli/channelize/parts.hpp"

#include <algorithm>
#include <future>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "mpi/filterbank/shares.hpp"

namespace ridge::cli {
namespace {

std::size_t parts_in(const filterbank::Problem& problem, std::size_t wanted) {
  return std::clamp<std::size_t>(wanted, 1, problem.stations);
}

}  // namespace

// Stations of one device: spectra, or power summed on the device.
class Part {
 public:
  Part(const StationWork& work, const mpi::Part& wanted, const Device& device) : stations(wanted) {
    if (work.detection) {
      power_.emplace(device, work.problem, *work.detection, work.options);
    } else {
      plan_.emplace(device, work.problem, work.options);
      stream_.emplace(*plan_);
    }
  }
  std::string variant() const { return power_ ? power_->variant() : plan_->variant(); }
  std::uint64_t start_at(std::uint64_t spectrum) {
    return power_ ? power_->start_at(spectrum) : stream_->start_at(spectrum);
  }
  void set_delays(std::uint64_t sample, const std::vector<double>& delays) {
    spectra_only().set_delays(sample, delays);
  }
  void replace_weights(std::uint64_t sample, const std::vector<double>& weights) {
    spectra_only().replace_weights(weights, sample);
  }
  // Processes `bytes` asynchronously; the result is in `values`.
  void begin() {
    done_ = std::async(std::launch::async, [this] {
      values.resize(due(bytes.size()));
      push(bytes, values);
    });
  }
  void finish() { done_.get(); }
  // Floats produced by a push of `count` bytes.
  std::size_t due(std::size_t count) const {
    return power_ ? power_->due(count) * power_->row_size() : stream_->due(count) * plan_->spectrum_size() * 2;
  }
  void push(std::span<const std::byte> in, std::span<float> out) {
    if (power_) {
      power_->push(in, out);
    } else {
      stream_->push(in, std::span(reinterpret_cast<std::complex<float>*>(out.data()), out.size() / 2));
    }
  }

  mpi::Part stations;
  std::vector<std::byte> bytes;
  std::vector<float> values;

 private:
  filterbank::Stream& spectra_only() {
    if (!stream_)
      throw Error(ErrorKind::internal, "delays and --replace-weights need an output of spectra, not of sums");
    return *stream_;
  }

  std::optional<filterbank::Plan> plan_;
  std::optional<filterbank::Stream> stream_;
  std::optional<filterbank::PowerStream> power_;
  std::future<void> done_;
};

StationParts::StationParts(const StationWork& work, const std::vector<Device>& devices)
    : work_(work), geometry_(filterbank::resolve(work.problem)) {
  const filterbank::Problem& problem = work_.problem;
  time_size_ =
      work.detection ? filterbank::Detector(problem, *work.detection).row_size() : 2 * geometry_.spectrum_size();
  const std::size_t count = parts_in(problem, devices.size());
  std::vector<double> seconds(count, 1);
  for (std::size_t i = 0; count > 1 && i < count; ++i) {
    seconds[i] = mpi::filterbank::seconds_of_station(devices[i], problem, work.detection, work.options,
                                                     std::max<std::size_t>(1, problem.stations / count));
  }
  const std::vector<mpi::Part> shares = mpi::filterbank::shares_by_speed(seconds, problem.stations);
  std::vector<std::size_t> stations;
  for (std::size_t i = 0; i < count; ++i) {
    const mpi::Part& mine = shares[i];
    if (mine.begin == mine.end) continue;  // device too slow to contribute
    stations.push_back(mine.end - mine.begin);
    parts_.push_back(std::make_unique<Part>(
        StationWork{mpi::filterbank::problem_of(problem, mine), work.detection, work.options}, mine, devices[i]));
    if (!variant_.empty()) variant_ += " and ";
    variant_ += parts_.back()->variant();
  }
  if (parts_.size() > 1) {
    variant_ += fmt::format(", {} stations over {} devices by their speed", fmt::join(stations, " + "), parts_.size());
  }
}

StationParts::~StationParts() = default;

// Number of output times that the first `bytes` of the stream yield.
std::uint64_t StationParts::times_in(std::uint64_t bytes) const {
  return geometry_.spectra_in(bytes) / (work_.detection ? work_.detection->times : 1);
}

std::uint64_t StationParts::start_at(std::uint64_t spectrum) {
  std::uint64_t sample = 0;
  for (const auto& part : parts_) sample = part->start_at(spectrum);
  first_ = spectrum;
  times_ = spectrum / (work_.detection ? work_.detection->times : 1);
  bytes_ = sample * (geometry_.frame_bytes() / geometry_.block);
  return sample;
}

std::size_t most_times_of(const filterbank::Geometry& g, std::size_t each, std::size_t bytes) {
  // The last byte of a block may complete several spectra at once, and so may a block of output times.
  const std::size_t spectra = bytes / (g.hop * g.frame_bytes() / g.block) + 1 + std::max(g.block, g.channels) / g.hop +
                              2 + (g.by_channel ? g.times : 0) + g.longest / g.hop;
  return each > 1 ? spectra / each + 1 : spectra;
}

std::size_t StationParts::most_times(std::size_t bytes) const {
  return most_times_of(geometry_, work_.detection ? work_.detection->times : 1, bytes);
}

std::uint64_t StationParts::spectra() const {
  return work_.detection ? std::max(first_, geometry_.spectra_in(bytes_)) : times_;
}

void StationParts::set_delays(std::uint64_t sample, std::span<const double> delays) {
  for (const auto& part : parts_) {
    std::vector<double> mine;
    for (std::size_t p = 0; p < geometry_.polarizations; ++p) {
      for (std::size_t s = part->stations.begin; s < part->stations.end; ++s) {
        mine.push_back(delays[p * geometry_.stations + s]);
      }
    }
    part->set_delays(sample, mine);
  }
}

void StationParts::replace_weights(std::uint64_t sample, const std::vector<double>& weights) {
  for (const auto& part : parts_) part->replace_weights(sample, weights);
}

std::size_t StationParts::push(std::span<const std::byte> in, std::span<float> out, bool last) {
  if (parts_.size() > 1 && !last && in.size() % geometry_.frame_bytes() != 0) {
    throw Error(ErrorKind::internal, "stations over several devices: a push needs whole blocks");
  }
  bytes_ += in.size();
  // At the very end the first stations may have more samples than the last one.
  const std::uint64_t whole = times_in(bytes_);
  const std::size_t times = whole > times_ ? static_cast<std::size_t>(whole - times_) : 0;
  if (out.size() < times * time_size_)
    throw Error(ErrorKind::internal, "the output is too small for the sums of these samples");
  times_ += times;
  if (parts_.size() == 1) {
    parts_[0]->push(in, out.first(times * time_size_));
    return times;
  }
  for (std::size_t i = parts_.size(); i-- > 0;) {
    split(in, i, parts_[i]->bytes);
    parts_[i]->begin();
  }
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    parts_[i]->finish();
    join(parts_[i]->values, i, times, out.data());
  }
  return times;
}

void StationParts::split(std::span<const std::byte> in, std::size_t part, std::vector<std::byte>& to) const {
  const mpi::Part& mine = parts_[part]->stations;
  const std::size_t frame_bytes = geometry_.frame_bytes(), station = frame_bytes / geometry_.stations;
  to.clear();
  for (std::size_t frame = 0; frame < in.size(); frame += frame_bytes) {
    const std::size_t begin = std::min(frame + mine.begin * station, in.size());
    const std::size_t end = std::min(frame + mine.end * station, in.size());
    to.insert(to.end(), in.begin() + static_cast<std::ptrdiff_t>(begin), in.begin() + static_cast<std::ptrdiff_t>(end));
  }
}

// Output order of spectra: time, polarization, station, channel; or block, channel, station, polarization, time. Power:
// time, station, product, channel.
void StationParts::join(const std::vector<float>& from, std::size_t part, std::size_t times, float* out) const {
  const mpi::Part& mine = parts_[part]->stations;
  const std::size_t inner = work_.detection        ? time_size_ / geometry_.stations
                            : geometry_.by_channel ? 2 * geometry_.polarizations * geometry_.times
                                                   : 2 * geometry_.channels;
  const std::size_t run = (mine.end - mine.begin) * inner;
  const std::size_t outer = times * time_size_ / (geometry_.stations * inner);
  if (from.size() < outer * run)
    throw Error(ErrorKind::internal, "a part has fewer values than its share of the output");
  for (std::size_t i = 0; i < outer; ++i) {
    std::copy_n(from.data() + i * run, run, out + (i * geometry_.stations + mine.begin) * inner);
  }
}

}  // namespace ridge::cli
