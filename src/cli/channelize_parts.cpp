#include "cli/channelize_parts.hpp"

#include <algorithm>
#include <array>
#include <future>

#include <fmt/format.h>

#include "base/threads.hpp"
#include "filterbank/geometry.hpp"

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
  virtual filterbank::Stream* stream() { return nullptr; }

  base::Share stations;
  std::vector<std::byte> bytes;
  std::vector<std::complex<float>> values;
};

namespace {

class LocalPart final : public Part {
 public:
  LocalPart(const filterbank::Problem& problem, const base::Share& wanted, const Device& device,
            const planner::Options& options)
      : Part(wanted), plan_(device, problem, options), stream_(plan_) {}
  const filterbank::Plan& plan() const { return plan_; }
  filterbank::Stream* stream() override { return &stream_; }
  std::uint64_t start_at(std::uint64_t spectrum) override { return stream_.start_at(spectrum); }
  void set_delays(std::uint64_t sample, const std::vector<double>& delays) override {
    stream_.set_delays(sample, delays);
  }
  void replace_weights(std::uint64_t sample, const std::vector<double>& weights) override {
    stream_.replace_weights(weights, sample);
  }
  void begin() override {
    done_ = std::async(std::launch::async, [this] { push(); });
  }
  void finish() override { done_.get(); }
  void push() {
    values.resize(stream_.due(bytes.size()) * plan_.spectrum_size());
    stream_.push(std::span<const std::byte>(bytes), values);
  }

 private:
  filterbank::Plan plan_;
  filterbank::Stream stream_;
  std::future<void> done_;
};

class RemotePart final : public Part {
 public:
  RemotePart(const base::Share& wanted, const mpi::Processes& processes, std::size_t rank)
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
  const mpi::Processes& processes_;
  std::size_t rank_;
};

}  // namespace

StationParts::StationParts(const filterbank::Problem& problem, const std::vector<Device>& devices,
                           const planner::Options& options, const mpi::Processes& processes, const Team& team)
    : problem_(problem) {
  const filterbank::Geometry g = filterbank::resolve(problem);
  hop_ = g.hop;
  spectrum_size_ = g.spectrum_size();
  frame_bytes_ = g.frame_bytes();
  const bool alone = team.count == 1;
  const std::size_t count = parts_in(problem, alone ? devices.size() : team.count);
  for (std::size_t i = 0; i < count; ++i) {
    const base::Share stations = base::share(problem.stations, i, count);
    if (i > 0 && !alone) {
      parts_.push_back(std::make_unique<RemotePart>(stations, processes, team.root + i));
      continue;
    }
    auto part = std::make_unique<LocalPart>(part_of(problem, stations), stations, devices[alone ? i : 0], options);
    if (!variant_.empty()) variant_ += " and ";
    variant_ += part->plan().variant();
    parts_.push_back(std::move(part));
  }
  if (count > 1) variant_ += fmt::format(", stations over {} {}", count, alone ? "devices" : "processes");
}

StationParts::~StationParts() = default;

std::uint64_t StationParts::start_at(std::uint64_t spectrum) {
  std::uint64_t sample = 0;
  for (const auto& part : parts_) sample = part->start_at(spectrum);
  spectra_ = spectrum;
  bytes_ = sample * (frame_bytes_ / filterbank::resolve(problem_).block);
  return sample;
}

void StationParts::set_delays(std::uint64_t sample, std::span<const double> delays) {
  for (const auto& part : parts_) {
    std::vector<double> mine;
    for (std::size_t p = 0; p < problem_.polarizations; ++p) {
      for (std::size_t s = part->stations.begin; s < part->stations.end; ++s) {
        mine.push_back(delays[p * problem_.stations + s]);
      }
    }
    part->set_delays(sample, mine);
  }
}

void StationParts::replace_weights(std::uint64_t sample, const std::vector<double>& weights) {
  for (const auto& part : parts_) part->replace_weights(sample, weights);
}

std::size_t StationParts::push(std::span<const std::byte> in, std::span<std::complex<float>> out, bool last) {
  if (parts_.size() == 1) {
    const std::size_t made = parts_[0]->stream()->push(in, out);
    spectra_ += made;
    return made;
  }
  if (!last && in.size() % frame_bytes_ != 0) {
    throw Error(ErrorKind::internal, "stations over several devices: a push that is not of whole blocks");
  }
  for (std::size_t i = parts_.size(); i-- > 0;) {
    split(in, i, parts_[i]->bytes);
    parts_[i]->begin();
  }
  // The first stations may have samples at the very end that the last does not.
  bytes_ += in.size();
  const std::uint64_t whole = filterbank::resolve(problem_).spectra_in(bytes_);
  const std::size_t spectra = whole > spectra_ ? static_cast<std::size_t>(whole - spectra_) : 0;
  if (out.size() < spectra * spectrum_size_) throw Error(ErrorKind::internal, "no room for the parts' spectra");
  for (std::size_t i = 0; i < parts_.size(); ++i) {
    parts_[i]->finish();
    join(parts_[i]->values, i, spectra, out.data());
  }
  spectra_ += spectra;
  return spectra;
}

void StationParts::split(std::span<const std::byte> in, std::size_t part, std::vector<std::byte>& to) const {
  const base::Share& mine = parts_[part]->stations;
  const std::size_t station = frame_bytes_ / problem_.stations;
  to.clear();
  for (std::size_t frame = 0; frame < in.size(); frame += frame_bytes_) {
    const std::size_t begin = std::min(frame + mine.begin * station, in.size());
    const std::size_t end = std::min(frame + mine.end * station, in.size());
    to.insert(to.end(), in.begin() + static_cast<std::ptrdiff_t>(begin), in.begin() + static_cast<std::ptrdiff_t>(end));
  }
}

// Time, polarization, station, channel; or block, channel, station, polarization and time.
void StationParts::join(const std::vector<std::complex<float>>& from, std::size_t part, std::size_t spectra,
                        std::complex<float>* out) const {
  const base::Share& mine = parts_[part]->stations;
  const bool by_channel = problem_.order == filterbank::Order::channel;
  const std::size_t inner = by_channel ? problem_.polarizations * problem_.output_times : problem_.channels;
  const std::size_t run = (mine.end - mine.begin) * inner;
  const std::size_t outer = spectra * spectrum_size_ / (problem_.stations * inner);
  if (from.size() < outer * run) throw Error(ErrorKind::internal, "a part made fewer spectra than the whole has");
  for (std::size_t i = 0; i < outer; ++i) {
    std::copy_n(from.data() + i * run, run, out + (i * problem_.stations + mine.begin) * inner);
  }
}

void serve_parts(const filterbank::Problem& problem, const std::vector<Device>& devices,
                 const planner::Options& options, const mpi::Processes& processes, const Team& team) {
  const std::size_t mine = processes.rank() - team.root, count = parts_in(problem, team.count);
  if (mine >= count) return;  // fewer stations than processes
  const base::Share stations = base::share(problem.stations, mine, count);
  LocalPart part(part_of(problem, stations), stations, devices[0], options);
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
