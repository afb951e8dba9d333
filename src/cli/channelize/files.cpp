// Sets up and runs `ridge channelize`: devices, subbands, progress and the final report.
#include "cli/channelize/files.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <mutex>
#include <sstream>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "base/threads.hpp"
#include "cli/channelize/correlation.hpp"
#include "cli/channelize/input.hpp"
#include "cli/channelize/kurtosis.hpp"
#include "cli/channelize/mpi.hpp"
#include "cli/channelize/output.hpp"
#include "cli/channelize/parts.hpp"
#include "command/options.hpp"
#include "command/output_folder.hpp"
#include "command/process.hpp"

namespace ridge::cli {
namespace {

// Parses comma-separated device names; "cuda:*" is every CUDA device. Under mpirun each process takes one of them.
std::vector<Device> devices_for(const std::string& names, const mpi::Communicator& processes) {
  std::vector<Device> found;
  std::istringstream words(names);
  for (std::string name; std::getline(words, name, ',');) {
    if (name.size() < 3 || name.substr(name.size() - 2) != ":*") {
      found.push_back(device(name));
      continue;
    }
    const std::string backend = name.substr(0, name.size() - 1);
    for (const Device& one : devices().devices) {
      if (one.id().rfind(backend, 0) == 0) found.push_back(one);
    }
  }
  if (found.empty())
    throw Error(ErrorKind::unavailable, fmt::format("--device {}: no such device on this machine", names));
  if (processes.count() > 1) return {found[processes.rank_here() % found.size()]};
  return found;
}

// Sends the root's file information to every process of a team.
io::SampleInfo share_info(const io::SampleInfo* info, const mpi::Communicator& team) {
  std::array<double, 7> numbers{};
  if (info != nullptr) {
    numbers = {static_cast<double>(info->type),
               static_cast<double>(info->streams),
               static_cast<double>(info->polarizations),
               static_cast<double>(info->block),
               info->sample_seconds,
               info->frequency_mhz,
               info->stream_step_mhz};
  }
  team.broadcast(numbers.data(), sizeof numbers);
  if (info != nullptr) return *info;
  io::SampleInfo told;
  told.type = static_cast<io::SampleType>(static_cast<int>(numbers[0]));
  told.streams = static_cast<std::size_t>(numbers[1]);
  told.polarizations = static_cast<std::size_t>(numbers[2]);
  told.block = static_cast<std::size_t>(numbers[3]);
  told.sample_seconds = numbers[4], told.frequency_mhz = numbers[5], told.stream_step_mhz = numbers[6];
  return told;
}

struct Setup {
  std::vector<DelayPoint> delays;
  StationWork work;
  std::vector<Device> devices;
};

Setup setup_for(const ChannelizeOptions& options, const io::SampleInfo& info, const mpi::Communicator& processes) {
  Setup setup;
  if (!options.delays.empty()) setup.delays = read_delays(options.delays, info.streams * info.polarizations);
  setup.work.problem = problem_for(options, info, setup.delays);
  setup.devices = devices_for(options.device, processes);
  setup.work.options.effort = options.measure ? Effort::measured : Effort::quick;
  setup.work.options.variant = options.variant;
  // Power is summed on the device unless another option needs the spectra.
  const bool spectra = options.digest || options.by_channel || !options.delays.empty() || !options.replacements.empty();
  if (!spectra) setup.work.detection = detection_for(options);
  if (options.kurtosis > 0) {
    if (!setup.work.detection)
      mistake("--kurtosis needs --detect or a .fil output, without --digest, --delays or --order");
    setup.work.detection = Kurtosis(setup.work.problem, *setup.work.detection, options.kurtosis).detection();
  }
  return setup;
}

template <class Work>
void set_course(const ChannelizeOptions& options, const Setup& setup, Work& work) {
  for (const DelayPoint& point : setup.delays) work.set_delays(point.sample, point.delays);
  std::uint64_t before = 0;
  for (const std::string& text : options.replacements) {
    const Replacement replacement = replacement_for(text, options.prototype);
    if (replacement.sample < before) mistake("--replace-weights: samples must be in ascending order");
    before = replacement.sample;
    work.replace_weights(replacement.sample, replacement.weights);
  }
}

std::unique_ptr<DistributedStations> distributed_work_for(const ChannelizeOptions& options, const Setup& setup,
                                                          const mpi::Communicator& team) {
  auto distributed = std::make_unique<DistributedStations>(setup.work, setup.devices.front(), team);
  set_course(options, setup, *distributed);
  return distributed;
}

// Runs everything on one device if possible; otherwise divides the stations.
std::unique_ptr<BankWork> work_for(const ChannelizeOptions& options, const Setup& setup,
                                   const mpi::Communicator& team) {
  if (options.correlate && team.count() == 1 && setup.devices.size() == 1 && !options.digest && !options.by_channel &&
      options.replacements.empty()) {
    const filterbank::Correlation correlation = correlation_of(options);
    auto made = DeviceCorrelation::make(setup.devices.front(), setup.work.problem, correlation, setup.work.options);
    if (made) return made;
  }
  if (team.count() > 1) return distributed_work_for(options, setup, team);
  auto parts = std::make_unique<StationParts>(setup.work, setup.devices);
  set_course(options, setup, *parts);
  return parts;
}

// Lost samples that the reading thread has found, for the writing thread.
class SeenGaps {
 public:
  void update(const std::vector<io::Gap>& gaps) {
    if (gaps.empty()) return;
    const std::lock_guard lock(mutex_);
    // The last known gap may have grown.
    const std::size_t from = gaps_.empty() ? 0 : gaps_.size() - 1;
    gaps_.resize(from);
    gaps_.insert(gaps_.end(), gaps.begin() + static_cast<std::ptrdiff_t>(from), gaps.end());
  }
  std::vector<io::Gap> all() const {
    const std::lock_guard lock(mutex_);
    return gaps_;
  }

 private:
  mutable std::mutex mutex_;
  std::vector<io::Gap> gaps_;
};

// Processes one stream from its first to its last sample.
class Channelizing {
 public:
  Channelizing(const ChannelizeOptions& options, const mpi::Communicator& processes, const mpi::Communicator& team)
      : options_(options),
        reader_(open_samples(options)),
        info_(share_info(&reader_->info(), team)),
        setup_(setup_for(options, info_, processes)),
        work_(work_for(options, setup_, team)),
        seconds_(options.rate > 0 ? 1 / options.rate : info_.sample_seconds),
        sink_(options, setup_.work.problem, work_->hop(), info_, seconds_, work_->product(), setup_.devices.front()) {
    find_start();
  }

  void run() {
    // Block size: limited by the memory, and small enough for low latency with pipes.
    const std::size_t in_each = work_->hop() * info_.sample_bytes();
    const std::size_t out_each = std::max<std::size_t>(1, work_->time_size() * sizeof(float) / spectra_a_time());
    const std::size_t spectra = std::clamp<std::size_t>(
        std::min(options_.memory, std::size_t{64} << 20) / (kBlocks * (in_each + out_each)), 1, 65536);
    const std::size_t grain = work_->grain(), bytes = (spectra * in_each + grain - 1) / grain * grain;
    graph::Graph graph;
    const auto samples = read_stage(graph, bytes);
    const auto spectra_made = bank_stage(graph, samples, bytes);
    graph.stage("write", {spectra_made}, {}, [this](graph::Step& step) -> std::size_t {
      sink_.put(step.in[0]->host<float>());
      return 0;
    });
    begun_ = base::now();
    const graph::Report schedule = graph.run();
    working_ = schedule.workers[1].busy;
    sink_.finish();
    show_status([&] { return status(base::now()); }, true);
    write_schedule(options_.schedule, schedule);
    report();
  }

 private:
  static constexpr std::size_t kBlocks = 3;  // one is read, one is processed, one is written

  // The first device that is not the host.
  std::optional<Device> transferring() const {
    for (const Device& each : setup_.devices) {
      if (!each.is_host()) return each;
    }
    return {};
  }

  // Blocks of `bytes` bytes until a shorter one. A silent pipe may block the reader for ever.
  graph::Graph::Edge read_stage(graph::Graph& graph, std::size_t bytes) {
    const auto seen = seen_;
    sink_.watch([seen] { return seen->all(); }, first_);
    return graph.stage("read", {}, {.bytes = bytes, .blocks = kBlocks, .locked_by = transferring(), .may_block = true},
                       [reader = reader_, seen, ended = false](graph::Step& step) mutable -> std::size_t {
                         if (ended) return 0;
                         const std::size_t count = reader->read(step.out->bytes.data(), step.out->bytes.size());
                         seen->update(reader->gaps());
                         ended = count < step.out->bytes.size();
                         return count;
                       });
  }

  // Runs in this thread, because distributed banks call MPI.
  graph::Graph::Edge bank_stage(graph::Graph& graph, graph::Graph::Edge samples, std::size_t bytes) {
    const std::size_t values = std::max<std::size_t>(1, work_->most_times(bytes) * work_->time_size());
    return graph.stage("bank", {samples},
                       {.bytes = values * sizeof(float),
                        .blocks = kBlocks,
                        .locked_by = transferring(),
                        .finish = true,
                        .in_caller = true},
                       [this, bytes, last = false, shown = base::now(),
                        progress = base::terminal_progress()](graph::Step& step) mutable -> std::size_t {
                         if (last) return 0;
                         const std::span<const std::byte> in =
                             step.ended ? std::span<const std::byte>{} : step.in[0]->host<std::byte>();
                         last = in.size() < bytes;
                         const std::span<float> out{reinterpret_cast<float*>(step.out->bytes.data()),
                                                    step.out->bytes.size() / sizeof(float)};
                         if (options_.correlate) work_->exclude(flagged_spectra(setup_.work.problem, seen_->all()));
                         const double before = base::now();
                         const std::size_t made = work_->push(in, out, last);
                         const double now = base::now();
                         working_ += now - before;
                         show_status([&] { return status(now); });
                         if (last) {
                           progress(1, "");
                         } else if (now - shown > 0.2) {
                           shown = now;
                           // The length of a pipe is unknown: the bar only shows activity, the text shows the position.
                           progress(std::min(0.99, 1 - 1 / (1 + (now - begun_) / 10)), words(now));
                         }
                         return made * work_->time_size() * sizeof(float);
                       });
  }

  // Spectra per output time.
  std::size_t spectra_a_time() const { return work_->product() == Product::spectra ? 1 : options_.times; }

  void find_start() {
    std::uint64_t from = options_.from_sample;
    const std::size_t each = work_->hop() * sink_.spectra_each();
    if (options_.resume) {
      if (from != 0) mistake("--resume and --from-sample exclude each other: leave out --from-sample");
      from = sink_.there_already() * each;
    }
    if (from % each != 0) {
      mistake(fmt::format("--from-sample {}: needs a multiple of {} (samples per output time)", from, each));
    }
    first_ = from / work_->hop();
    if (first_ == 0 && options_.first_sample == 0) return;
    const std::uint64_t needed = work_->start_at(first_);
    if (needed < options_.first_sample) {
      mistake(fmt::format(
          "the input begins with sample {}, too late: to continue at sample {}, samples from {} on are needed",
          options_.first_sample, from, needed));
    }
    reader_->skip(needed - options_.first_sample);
  }

  double samples() const {
    return static_cast<double>((work_->spectra() - first_) * work_->hop() * info_.streams * info_.polarizations);
  }
  std::string margin(double taken) const {
    if (seconds_ == 0 || taken <= 0) return "";
    return fmt::format(", {:.3g} times real time",
                       static_cast<double>((work_->spectra() - first_) * work_->hop()) * seconds_ / taken);
  }
  std::string words(double now) const {
    return fmt::format("{} spectra, {}{}", work_->spectra() - first_,
                       base::human_rate(samples() / (now - begun_), "sample/s"), margin(now - begun_));
  }

  base::Json status(double now) const {
    const double seconds = std::max(now - begun_, 1e-9);
    base::Json json;
    json["spectra"] = work_->spectra() - first_;
    json["sample_rate"] = samples() / seconds;
    json["margin"] = seconds_ == 0 ? 0
                                   : static_cast<double>((work_->spectra() - first_) * work_->hop()) * seconds_ /
                                         std::max(working_, 1e-9);
    return json;
  }

  // Bytes of a raw input after its last complete sample of all stations.
  std::size_t bytes_left_over() const {
    const filterbank::Problem& p = setup_.work.problem;
    const std::size_t block = info_.streams == 1 ? 1 : p.input_block != 0 ? p.input_block : p.channels;
    return static_cast<std::size_t>(reader_->bytes_read() % (block * info_.sample_bytes()));
  }

  void report() const {
    const std::uint64_t flagged =
        write_flags(options_, setup_.work.problem, reader_->gaps(), first_, work_->spectra(), sink_);
    if (!sink_.digest().empty()) fmt::print(stderr, "digest of all channels: {}\n", sink_.digest());
    if (options_.quiet) return;
    const double taken = base::now() - begun_;
    std::string text =
        fmt::format("{} spectra of {} x {} x {} channels in {} ({}; the bank alone {})", work_->spectra() - first_,
                    info_.streams, info_.polarizations, setup_.work.problem.channels, base::human_seconds(taken),
                    base::human_rate(samples() / std::max(taken, 1e-9), "sample/s"),
                    base::human_rate(samples() / std::max(working_, 1e-9), "sample/s"));
    text += margin(taken);
    if (sink_.spectra_each() > 1) text += fmt::format(", {} times of {} written", sink_.written(), sink_.what());
    text +=
        fmt::format(", next sample {}", work_->spectra() / sink_.spectra_each() * sink_.spectra_each() * work_->hop());
    if (reader_->samples_lost() > 0) {
      text += fmt::format("; {} samples lost in {} gaps, {} spectra flagged", reader_->samples_lost(),
                          reader_->gaps().size(), flagged);
    } else if (reader_->counts_losses()) {
      text += "; nothing lost";
    }
    if (options_.kurtosis > 0) text += fmt::format("; {} values flagged by their kurtosis", sink_.not_noise());
    for (const std::string& remark : reader_->remarks()) text += "; " + remark;
    if (work_->spectra() == first_ && first_ == 0)
      text += fmt::format("; the input holds fewer than the {} samples of a spectrum", work_->hop());
    if (work_->spectra() == first_ && first_ > 0)
      text += fmt::format("; the input holds no further spectrum from sample {} on", first_ * work_->hop());
    if (const std::size_t rest = bytes_left_over(); rest > 0) {
      text += fmt::format("; the last {} bytes are an incomplete {}", rest, info_.streams > 1 ? "block" : "sample");
    }
    text += sink_.remark();
    fmt::print(stderr, "{}, {}\n", text, work_->variant());
  }

  const ChannelizeOptions& options_;
  std::shared_ptr<io::SampleReader> reader_;  // read by a separate thread
  io::SampleInfo info_;
  Setup setup_;
  std::unique_ptr<BankWork> work_;
  double seconds_;  // between samples
  Sink sink_;
  std::uint64_t first_ = 0;  // first spectrum
  std::shared_ptr<SeenGaps> seen_ = std::make_shared<SeenGaps>();
  double begun_ = 0, working_ = 0;
};

void one_subband(const ChannelizeOptions& options, const mpi::Communicator& processes, const mpi::Communicator& team) {
  const std::string end = options.out.size() < 4 ? options.out : options.out.substr(options.out.size() - 4);
  if (options.resume && (end == ".npy" || end == ".fil" || end == "dada" || end == "fits" || end == "-"))
    mistake("--resume needs a raw output file");
  if (team.root()) {
    check_output("--flags", options.flags);
    Channelizing(options, processes, team).run();
    return;
  }
  const io::SampleInfo info = share_info(nullptr, team);
  const Setup setup = setup_for(options, info, processes);
  distributed_work_for(options, setup, team)->serve();
}

// Parses "3", "0-7", "1,4,6-9".
std::vector<std::size_t> parse_subbands(const std::string& text) {
  std::vector<std::size_t> numbers;
  std::istringstream words(text);
  for (std::string word; std::getline(words, word, ',');) {
    std::size_t first = 0, last = 0;
    int used = 0;
    if (std::sscanf(word.c_str(), "%zu%n", &first, &used) != 1) used = -1;
    last = first;
    if (used > 0 && static_cast<std::size_t>(used) < word.size()) {
      int more = 0;
      if (std::sscanf(word.c_str() + used, "-%zu%n", &last, &more) != 1) used = -1;
      used = used < 0 ? -1 : used + more;
    }
    constexpr std::size_t kMostSubband = 999999999;  // also excludes what %zu makes of a negative number
    if (used != static_cast<int>(word.size()) || last < first || last - first > 65535 || last > kMostSubband) {
      mistake(fmt::format("--subbands {}: needs numbers as in 0-7 or 1,4,6-9", text));
    }
    for (std::size_t i = first; i <= last; ++i) numbers.push_back(i);
  }
  return numbers;
}

std::string with_number(std::string name, std::size_t number, const char* which) {
  const auto at = name.find("{}");
  if (at == std::string::npos) {
    mistake(fmt::format("--subbands: {} \"{}\" needs {{}} as the place of the subband's number", which, name));
  }
  return name.replace(at, 2, std::to_string(number));
}

}  // namespace

void channelize(const ChannelizeOptions& options, const mpi::Communicator& processes) {
  if (options.subbands.empty()) return one_subband(options, processes, processes);
  // One team per subband, at most one per process; a team processes its subbands one after another.
  const std::vector<std::size_t> subbands = parse_subbands(options.subbands);
  const std::size_t teams = std::min(subbands.size(), processes.count());
  std::size_t mine = 0;
  while (processes.rank() >= base::share(processes.count(), mine, teams).end) ++mine;
  const mpi::Communicator team = processes.split(mine);
  for (std::size_t i = mine; i < subbands.size(); i += teams) {
    ChannelizeOptions one = options;
    one.in = with_number(options.in, subbands[i], "IN");
    one.out = with_number(options.out, subbands[i], "OUT");
    if (!options.flags.empty()) one.flags = with_number(options.flags, subbands[i], "--flags");
    one_subband(one, processes, team);
  }
}

}  // namespace ridge::cli
