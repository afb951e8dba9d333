// Reads channels, runs the synthesis bank and writes samples.
#include "command/command.hpp"

#include <algorithm>
#include <complex>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <ridge/filterbank.hpp>

#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/channelize/files.hpp"
#include "cli/channelize/input.hpp"
#include "command/options.hpp"
#include "io/arrays/npy.hpp"
#include "io/telescopes/header_fields.hpp"
#include "io/telescopes/stream.hpp"

namespace ridge::cli {
namespace {

using Value = std::complex<float>;

struct SynthesisOptions {
  std::string in, out;
  PrototypeOptions prototype;
  std::string oversample = "8/7";
  std::size_t stations = 1, polarizations = 2;
  bool centred = false;
  double length = 1.5;
  std::size_t memory = std::size_t{64} << 20;
  bool quiet = false;
};

// Checks the shape of a .npy file: time, polarization, station, channel, as `ridge channelize` writes them.
void check_shape(io::InputStream& in, const filterbank::Problem& problem) {
  if (!io::looks_like_npy(in.peek(6)) && !in.name().ends_with(".npy")) return;
  const io::NpyHeader header = io::read_npy_header(in);
  if (header.type != io::ElementType::complex64) {
    mistake(fmt::format("{} holds {}; channels must be complex64", in.name(), io::name_of(header.type)));
  }
  const std::vector<std::size_t> wanted{problem.polarizations, problem.stations, problem.channels};
  if (header.shape.size() != 4 || !std::equal(wanted.begin(), wanted.end(), header.shape.begin() + 1)) {
    mistake(
        fmt::format("{} does not hold times of {} polarizations x {} stations x {} channels: --polarizations, "
                    "--stations and --channels must match the file",
                    in.name(), problem.polarizations, problem.stations, problem.channels));
  }
}

// Removes the delay of the synthesis: drops the first samples, so that the output begins with the first sample of the
// input.
class Undelayed {
 public:
  Undelayed(const filterbank::Problem& problem, const filterbank::Synthesis& synthesis, io::OutputStream& out)
      : stations_(problem.stations),
        row_(synthesis.hop() * problem.polarizations),
        skip_(synthesis.delay() / synthesis.hop()),
        cut_(synthesis.delay() % synthesis.hop() * problem.polarizations),
        out_(out) {}

  void put(std::span<const Value> steps) {
    const std::size_t each = stations_ * row_;
    for (; !steps.empty(); steps = steps.subspan(each)) {
      if (skip_ > 0) {
        --skip_;
        continue;
      }
      if (cut_ == 0) {
        write(steps.first(each));
      } else if (!before_.empty()) {
        block_.clear();
        for (std::size_t s = 0; s < stations_; ++s) {
          const auto old = before_.begin() + static_cast<std::ptrdiff_t>(s * row_);
          const auto now = steps.begin() + static_cast<std::ptrdiff_t>(s * row_);
          block_.insert(block_.end(), old + static_cast<std::ptrdiff_t>(cut_), old + static_cast<std::ptrdiff_t>(row_));
          block_.insert(block_.end(), now, now + static_cast<std::ptrdiff_t>(cut_));
        }
        write(block_);
      }
      if (cut_ > 0) before_.assign(steps.begin(), steps.begin() + static_cast<std::ptrdiff_t>(each));
    }
  }
  std::uint64_t blocks() const { return blocks_; }

 private:
  void write(std::span<const Value> block) {
    out_.write(block.data(), block.size_bytes());
    ++blocks_;
  }

  std::size_t stations_, row_, skip_, cut_;
  io::OutputStream& out_;
  std::vector<Value> before_, block_;
  std::uint64_t blocks_ = 0;
};

void synthesize(const SynthesisOptions& options) {
  if (options.stations == 0 || options.polarizations < 1 || options.polarizations > 2) {
    mistake("--stations must be at least 1, --polarizations 1 or 2");
  }
  if (!(options.length >= 1 && options.length <= 16)) mistake("--length must be 1 to 16 times the prototype's");
  const filterbank::Problem problem{.channels = options.prototype.channels,
                                    .taps = options.prototype.taps,
                                    .stations = options.stations,
                                    .polarizations = options.polarizations,
                                    .oversampling = ratio_for(options.oversample),
                                    .weights = prototype_for(options.prototype),
                                    .centred = options.centred};
  filterbank::Synthesis synthesis(problem, options.length);
  io::InputStream in(options.in);
  if (!io::looks_like_npy(in.peek(6))) io::refuse_foreign(in);
  check_shape(in, problem);
  io::OutputStream out(options.out);
  Undelayed undelayed(problem, synthesis, out);
  const std::size_t each = problem.polarizations * problem.stations * problem.channels;
  const std::size_t times =
      std::clamp<std::size_t>(options.memory / ((each + synthesis.step_size()) * sizeof(Value)), 1, 65536);
  std::vector<Value> spectra(times * each), samples(times * synthesis.step_size());
  std::uint64_t taken = 0;
  const io::ReadProgress progress(in, "synthesizing");
  for (;; progress.show()) {
    const std::size_t bytes = in.read(spectra.data(), spectra.size() * sizeof(Value));
    const std::size_t whole = bytes / (each * sizeof(Value));
    synthesis.push(std::span<const Value>(spectra).first(whole * each), samples);
    undelayed.put(std::span<const Value>(samples).first(whole * synthesis.step_size()));
    taken += whole;
    if (bytes < spectra.size() * sizeof(Value)) {
      const std::size_t left = bytes - whole * each * sizeof(Value);
      if (left != 0) {
        throw Error(ErrorKind::io, fmt::format("{} ends within a spectrum: {} bytes of {} after {} complete ones",
                                               in.name(), left, each * sizeof(Value), taken));
      }
      break;
    }
  }
  out.finish();
  base::clear_progress();
  if (options.quiet) return;
  fmt::print(stderr,
             "{} spectra to {} samples of each station in blocks of {}, complex float; the last {} need later "
             "spectra\n",
             taken, undelayed.blocks() * synthesis.hop(), synthesis.hop(),
             taken * synthesis.hop() - undelayed.blocks() * synthesis.hop());
  if (problem.oversampling.numerator == problem.oversampling.denominator) {
    fmt::print(stderr, "critical sampling limits the reconstruction to about -35 dB: channels alias at their edges\n");
  }
}

}  // namespace

void add_channelize_synthesis(Command& channelize) {
  Command& command = channelize.subcommand("synthesize", "Reconstruct samples from channels");
  command.footer(
      "\nExamples:\n"
      "  ridge channelize in.raw channels.npy --channels 64 --oversample 8/7\n"
      "  ridge channelize synthesize channels.npy back.raw --channels 64 --oversample 8/7\n"
      "  receiver | ridge channelize - - --channels 64 --oversample 4/3 | filter | ridge channelize synthesize - - "
      "--channels 64 --oversample 4/3\n"
      "\nThe options must be those of the bank that made the channels. Output: complex float in the order block of\n"
      "channels x den / num samples, station, sample, polarization, starting with the first sample of the analysis\n"
      "input. Reconstruction error -90 dB or better from 8/7 oversampling.");
  auto options = std::make_shared<SynthesisOptions>();
  command.option("IN", options->in, "Input channels in order of time: .npy, raw, or - for standard input")
      .required()
      .reads();
  command.option("OUT", options->out, "Output file of raw complex float; - for standard output").required().writes();
  add_prototype_options(command, options->prototype);
  command.option("--oversample", options->oversample, "Oversampling ratio of the channels").shows_default();
  command.option("--stations", options->stations, "Number of stations").shows_default();
  command.option("--polarizations", options->polarizations, "Number of polarizations, 1 or 2").shows_default();
  command.flag("--centred", options->centred, "Channel 0 is the lowest frequency");
  command.option("--length", options->length, "Length of the synthesis filter, in lengths of the prototype")
      .shows_default();
  command.bytes("--memory", options->memory, "Memory limit for spectra and samples (default 64M)");
  command.flag("--quiet", options->quiet, "Do not print the final report");
  command.runs([options] { synthesize(*options); });
}

}  // namespace ridge::cli
