#include "cli/channelize/parts.hpp"

#include <algorithm>
#include <array>
#include <future>
#include <random>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <ridge/machine.hpp>

#include "base/clock.hpp"
#include "base/threads.hpp"

namespace ridge::cli {
namespace {

// What the root tells another process; what follows depends on it.
enum class Word : std::uint64_t { start, delays, weights, push, end };
using Message = std::array<std::uint64_t, 3>;  // the word, a number, how many bytes or numbers follow

// The part of the problem that has these stations.
filterbank::Problem part_of(const filterbank::Problem& problem, const base::Share& stations) {
  filterbank::Problem part = problem;
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

std::size_t parts_in(const filterbank::Problem& problem, std::size_t wanted) {
  return std::clamp<std::size_t>(wanted, 1, problem.stations);
}

}  // namespace

class Part {
 public:
  explicit Part(const base::Share& wanted) : stations(wanted) {}
  virtual ~Part() = default;
  virtual std::uint64_t start_at(std::uint64_t spectrum) = 0;
  virtual void set_delays(std::uint64_t sample, const std::vector<double>& delays) = 0;
  virtual void replace_weights(std::uint64_t sample, const std::vector<double>& weights) = 0;
  virtual void begin() = 0;   // works on `bytes`
  virtual void finish() = 0;  // the spectra are in `values`
  base::Share stations;
  std::vector<std::byte> bytes;
  std::vector<float> values;
};

namespace {

// On a device of this process: spectra, or power that is summed there.
class LocalPart final : public Part {
 public:
  LocalPart(const StationWork& work, const base::Share& wanted, const Device& device) : Part(wanted) {
    if (work.detection) {
      power_.emplace(device, work.problem, *work.detection, work.options);
    } else {
      plan_.emplace(device, work.problem, work.options);
      stream_.emplace(*plan_);
    }
  }
  std::string variant() const { return power_ ? power_->variant() : plan_->variant(); }
  std::uint64_t start_at(std::uint64_t spectrum) override {
    return power_ ? power_->start_at(spectrum) : stream_->start_at(spectrum);
  }
  void set_delays(std::uint64_t sample, const std::vector<double>& delays) override {
    spectra_only().set_delays(sample, delays);
  }
  void replace_weights(std::uint64_t sample, const std::vector<double>& weights) override {
    spectra_only().replace_weights(weights, sample);
  }
  void begin() override {
    done_ = std::async(std::launch::async, [this] { push(); });
  }
  void finish() override { done_.get(); }
  void push() {
    values.resize(due(bytes.size()));
    push(bytes, values);
  }
  // Floats that a push of so many bytes makes.
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

 private:
  filterbank::Stream& spectra_only() {
    if (!stream_) throw Error(ErrorKind::internal, "delays and other weights go with spectra");
    return *stream_;
  }

  std::optional<filterbank::Plan> plan_;
  std::optional<filterbank::Stream> stream_;
  std::optional<filterbank::PowerStream> power_;
  std::future<void> done_;
};

class RemotePart final : public Part {
 public:
  RemotePart(const base::Share& wanted, const mpi::Communicator& processes, std::size_t rank)
      : Part(wanted), processes_(processes), rank_(rank) {}
  ~RemotePart() override {
    try {
      tell(Word::end, 0, 0);
    } catch (const Error&) {  // it is gone already
    }
  }
  std::uint64_t start_at(std::uint64_t spectrum) override {
    tell(Word::start, spectrum, 0);
    std::uint64_t sample = 0;
    processes_.receive(rank_, &sample, sizeof sample);
    return sample;
  }
  void set_delays(std::uint64_t sample, const std::vector<double>& delays) override {
    tell(Word::delays, sample, delays.size());
    processes_.send(rank_, delays.data(), delays.size() * sizeof delays[0]);
  }
  void replace_weights(std::uint64_t sample, const std::vector<double>& weights) override {
    tell(Word::weights, sample, weights.size());
    processes_.send(rank_, weights.data(), weights.size() * sizeof weights[0]);
  }
  void begin() override {
    tell(Word::push, 0, bytes.size());
    if (!bytes.empty()) processes_.send(rank_, bytes.data(), bytes.size());
  }
  void finish() override {
    std::uint64_t count = 0;
    processes_.receive(rank_, &count, sizeof count);
    values.resize(static_cast<std::size_t>(count));
    if (count > 0) processes_.receive(rank_, values.data(), values.size() * sizeof values[0]);
  }

 private:
  void tell(Word word, std::uint64_t number, std::uint64_t count) {
    const Message message{static_cast<std::uint64_t>(word), number, count};
    processes_.send(rank_, message.data(), sizeof message);
  }
  const mpi::Communicator& processes_;
  std::size_t rank_;
};

// Seconds that one station takes on a device for each second of samples, the way there and back included: a stretch of
// noise goes through it.
double seconds_of_station(const StationWork& work, const Device& device, std::size_t stations) {
  constexpr std::size_t kLeastBytes = std::size_t{1} << 20;
  StationWork trial{part_of(work.problem, {0, stations}), work.detection, work.options};
  trial.problem.delays = {};
  trial.options.effort = Effort::quick;
  LocalPart part(trial, {0, stations}, device);
  const filterbank::Geometry g = filterbank::resolve(trial.problem);
  const std::size_t samples =
      std::max(2 * g.channels * g.taps, kLeastBytes / (g.stations * g.polarizations * g.sample_bytes));
  part.bytes.resize((samples / g.block + 1) * g.frame_bytes());
  std::minstd_rand random(1);
  for (std::byte& byte : part.bytes) byte = static_cast<std::byte>(random() >> 8);
  double best = 0;
  for (int round = 0; round < 3; ++round) {
    const double start = base::now();
    part.push();
    const double taken = base::now() - start;
    if (round > 0 && (best == 0 || taken < best)) best = taken;
  }
  return std::max(best, 1e-9) / static_cast<double>(samples * stations);
}

// The stations of each, in order; nobody waits for the slowest longer than he must.
std::vector<base::Share> shares_by_speed(const std::vector<double>& seconds, std::size_t stations) {
  std::vector<machine::Worker> workers;
  for (const double one : seconds) workers.push_back({.seconds_per_item = one});
  const machine::Split split = machine::split(workers, stations);
  std::vector<base::Share> shares;
  std::size_t at = 0;
  for (const std::uint64_t items : split.items) {
    shares.push_back({at, at + static_cast<std::size_t>(items)});
    at = shares.back().end;
  }
  return shares;
}

}  // namespace

StationParts::StationParts(const StationWork& work, const std::vector<Device>& devices,
                           const mpi::Communicator& processes, const Team& team)
    : work_(work), geometry_(filterbank::resolve(work.problem)) {
  const filterbank::Problem& problem = work_.problem;
  time_size_ =
      work.detection ? filterbank::Detector(problem, *work.detection).row_size() : 2 * geometry_.spectrum_size();
  const bool alone = team.count == 1;
  const std::size_t count = parts_in(problem, alone ? devices.size() : team.count);
  const std::size_t each = std::max<std::size_t>(1, problem.stations / count);
  std::vector<double> seconds(count, 1);
  for (std::size_t i = 0; count > 1 && i < count; ++i) {
    if (i > 0 && !alone) {
      processes.receive(team.root + i, &seconds[i], sizeof seconds[i]);
    } else {
      seconds[i] = seconds_of_station(work_, devices[i], each);
    }
  }
  const std::vector<base::Share> shares = shares_by_speed(seconds, problem.stations);
  std::vector<std::size_t> stations;
  for (std::size_t i = 0; i < count; ++i) {
    const base::Share& mine = shares[i];
    if (i > 0 && !alone) {
      const std::array<std::uint64_t, 2> told{mine.begin, mine.end};
      processes.send(team.root + i, told.data(), sizeof told);
    }
    if (mine.begin == mine.end) continue;  // too slow to help
    stations.push_back(mine.end - mine.begin);
    if (i > 0 && !alone) {
      parts_.push_back(std::make_unique<RemotePart>(mine, processes, team.root + i));
      continue;
    }
    auto part = std::make_unique<LocalPart>(StationWork{part_of(problem, mine), work.detection, work.options}, mine,
                                            devices[alone ? i : 0]);
    if (!variant_.empty()) variant_ += " and ";
    variant_ += part->variant();
    parts_.push_back(std::move(part));
  }
  if (parts_.size() > 1) {
    variant_ += fmt::format(", {} stations over {} {} by their speed", fmt::join(stations, " + "), parts_.size(),
                            alone ? "devices" : "processes");
  }
}

StationParts::~StationParts() = default;

// Output times that can be written with the first `bytes` of the stream.
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

std::size_t StationParts::most_times(std::size_t bytes) const {
  // A block completes at once what its stations lacked, and so does a block of output times.
  const std::size_t spectra = bytes / (geometry_.hop * geometry_.frame_bytes() / geometry_.block) + 1 +
                              std::max(geometry_.block, geometry_.channels) / geometry_.hop + 2 +
                              (geometry_.by_channel ? geometry_.times : 0) + geometry_.longest / geometry_.hop;
  return work_.detection ? spectra / work_.detection->times + 1 : spectra;
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
    throw Error(ErrorKind::internal, "stations over several devices: a push that is not of whole blocks");
  }
  bytes_ += in.size();
  // The first stations may have samples at the very end that the last does not.
  const std::uint64_t whole = times_in(bytes_);
  const std::size_t times = whole > times_ ? static_cast<std::size_t>(whole - times_) : 0;
  if (out.size() < times * time_size_) throw Error(ErrorKind::internal, "no room for what the samples make");
  times_ += times;
  if (auto* whole_bank = parts_.size() == 1 ? dynamic_cast<LocalPart*>(parts_[0].get()) : nullptr) {
    whole_bank->push(in, out.first(times * time_size_));
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
  const base::Share& mine = parts_[part]->stations;
  const std::size_t frame_bytes = geometry_.frame_bytes(), station = frame_bytes / geometry_.stations;
  to.clear();
  for (std::size_t frame = 0; frame < in.size(); frame += frame_bytes) {
    const std::size_t begin = std::min(frame + mine.begin * station, in.size());
    const std::size_t end = std::min(frame + mine.end * station, in.size());
    to.insert(to.end(), in.begin() + static_cast<std::ptrdiff_t>(begin), in.begin() + static_cast<std::ptrdiff_t>(end));
  }
}

// Spectra: time, polarization, station, channel; or block, channel, station, polarization and time. Power: time,
// station, product and channel.
void StationParts::join(const std::vector<float>& from, std::size_t part, std::size_t times, float* out) const {
  const base::Share& mine = parts_[part]->stations;
  const std::size_t inner = work_.detection        ? time_size_ / geometry_.stations
                            : geometry_.by_channel ? 2 * geometry_.polarizations * geometry_.times
                                                   : 2 * geometry_.channels;
  const std::size_t run = (mine.end - mine.begin) * inner;
  const std::size_t outer = times * time_size_ / (geometry_.stations * inner);
  if (from.size() < outer * run) throw Error(ErrorKind::internal, "a part made less than the whole has");
  for (std::size_t i = 0; i < outer; ++i) {
    std::copy_n(from.data() + i * run, run, out + (i * geometry_.stations + mine.begin) * inner);
  }
}

void serve_parts(const StationWork& work, const std::vector<Device>& devices, const mpi::Communicator& processes,
                 const Team& team) {
  const std::size_t mine = processes.rank() - team.root, count = parts_in(work.problem, team.count);
  if (mine >= count) return;  // fewer stations than processes
  const double seconds = seconds_of_station(work, devices[0], std::max<std::size_t>(1, work.problem.stations / count));
  processes.send(team.root, &seconds, sizeof seconds);
  std::array<std::uint64_t, 2> told{};
  processes.receive(team.root, told.data(), sizeof told);
  const base::Share stations{static_cast<std::size_t>(told[0]), static_cast<std::size_t>(told[1])};
  if (stations.begin == stations.end) return;
  LocalPart part({part_of(work.problem, stations), work.detection, work.options}, stations, devices[0]);
  for (;;) {
    Message message{};
    processes.receive(team.root, message.data(), sizeof message);
    const auto count_of = static_cast<std::size_t>(message[2]);
    switch (static_cast<Word>(message[0])) {
      case Word::start: {
        const std::uint64_t sample = part.start_at(message[1]);
        processes.send(team.root, &sample, sizeof sample);
        break;
      }
      case Word::delays: {
        std::vector<double> delays(count_of);
        processes.receive(team.root, delays.data(), count_of * sizeof delays[0]);
        part.set_delays(message[1], delays);
        break;
      }
      case Word::weights: {
        std::vector<double> weights(count_of);
        processes.receive(team.root, weights.data(), count_of * sizeof weights[0]);
        part.replace_weights(message[1], weights);
        break;
      }
      case Word::push: {
        part.bytes.resize(count_of);
        if (count_of > 0) processes.receive(team.root, part.bytes.data(), count_of);
        part.push();
        const std::uint64_t values = part.values.size();
        processes.send(team.root, &values, sizeof values);
        if (values > 0) processes.send(team.root, part.values.data(), part.values.size() * sizeof part.values[0]);
        break;
      }
      default:
        return;
    }
  }
}

}  // namespace ridge::cli
