// Generates noise and tones and writes them as samples.
#include "command/command.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/number.hpp"
#include "base/text.hpp"
#include "cli/channelize/signal_formats.hpp"
#include "command/options.hpp"
#include "io/telescopes/signal.hpp"
#include "io/telescopes/stream.hpp"

namespace ridge::cli {
namespace {

struct SignalOptions {
  std::string out, samples = "i8", format = "auto";
  std::size_t stations = 1, polarizations = 2, block = 256;
  double rate = 0, seconds = 1, frequency = 150;  // rate 0: the format's default
  std::uint64_t seed = 1, from_sample = 0, chunk = std::uint64_t{1} << 20;
  std::vector<std::string> tones;
  bool pace = false;
};

io::Tone parse_tone(const std::string& text, double rate) {
  const std::size_t colon = text.find(':');
  const std::optional<double> hertz = base::number_of(text.substr(0, colon));
  const std::optional<double> amplitude = colon == std::string::npos ? 0.5 : base::number_of(text.substr(colon + 1));
  if (!hertz || !amplitude || !std::isfinite(*hertz) || !(*amplitude >= 0 && *amplitude <= 1)) {
    mistake(fmt::format("--tone {}: needs Hz, or Hz:amplitude with an amplitude up to 1", text));
  }
  if (std::abs(*hertz) > rate) mistake(fmt::format("--tone {}: at most {} Hz, the sampling rate", text, rate));
  return {*hertz / rate, *amplitude};
}

void write_signal(SignalOptions options) {
  options.format = signal_format_name(options.format, options.out);
  if (options.rate == 0) options.rate = default_rate(options.format);
  io::SampleInfo info;
  info.type = options.samples == "i4"    ? io::SampleType::int4
              : options.samples == "i8"  ? io::SampleType::int8
              : options.samples == "i16" ? io::SampleType::int16
                                         : io::SampleType::float32;
  info.streams = options.stations;
  info.polarizations = options.polarizations;
  info.block = block_of_format(options.format, options.block);
  info.sample_seconds = 1 / options.rate;
  info.frequency_mhz = options.frequency;
  if (!(options.rate > 0) || !(options.seconds >= 0) || options.seconds * options.rate > 9e15) {
    mistake(
        fmt::format("--rate must be above 0 and --seconds at least 0, at most 9e15 samples in all; got --rate {} "
                    "--seconds {}",
                    options.rate, options.seconds));
  }
  if (options.seconds > 0 && options.seconds * options.rate < 0.5)
    mistake(fmt::format("--seconds {} hold no sample at --rate {}", options.seconds, options.rate));
  if (options.stations == 0 || options.block == 0 || options.chunk == 0 || options.polarizations < 1 ||
      options.polarizations > 2 || options.stations > (1u << 20) || options.block > (1u << 24)) {
    mistake("--stations, --block and --chunk must be at least 1, --polarizations 1 or 2");
  }
  const std::uint64_t frame = info.block * info.sample_bytes();
  if (options.from_sample % info.block != 0) {
    mistake(fmt::format("--from-sample {}: needs a multiple of --block {}", options.from_sample, options.block));
  }
  std::vector<io::Tone> tones;
  for (const std::string& text : options.tones) tones.push_back(parse_tone(text, options.rate));
  const io::Signal signal(info, options.seed, std::move(tones));

  const auto samples = static_cast<std::uint64_t>(std::ceil(options.seconds * options.rate));
  std::uint64_t at = options.from_sample / info.block * frame;
  const std::uint64_t first = at, end = first + (samples + info.block - 1) / info.block * frame;
  io::OutputStream out(options.out);
  const auto format = signal_format(options.format, info, options.from_sample / info.block, end - first, out);
  // Whole blocks; raw files are written as plain bytes.
  std::vector<std::byte> bytes(options.format == "raw" ? std::size_t{1} << 20
                                                       : ((std::size_t{1} << 20) / frame + 1) * frame);
  const auto progress = base::terminal_progress();
  const double begun = base::now();
  while (at < end) {
    const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), end - at));
    signal.fill(at, std::span(bytes).first(now));
    const std::size_t pieces = options.format == "raw" ? options.chunk : now;
    for (std::size_t done = 0; done < now;) {
      const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(pieces, now - done));
      format->put(std::span<const std::byte>(bytes).subspan(done, piece));
      done += piece;
    }
    at += now;
    const double due = static_cast<double>((at - first) / info.sample_bytes()) / options.rate;
    const double ahead = due - (base::now() - begun);
    if (options.pace && ahead > 0) std::this_thread::sleep_for(std::chrono::duration<double>(ahead));
    progress(static_cast<double>(at - first) / static_cast<double>(end - first), base::human_seconds(due));
  }
  progress(1, "");
  out.finish();
}

}  // namespace

void add_channelize_signal(Command& channelize) {
  Command& command = channelize.subcommand("signal", "Write synthetic samples, noise and tones, to a file or pipe");
  command.footer(
      "\nExamples:\n"
      "  ridge channelize signal in.raw --stations 16 --seconds 10 --tone 1000:0.3\n"
      "  ridge channelize signal - --stations 16 --samples i16 --seconds 3600 | ridge channelize - out.raw "
      "--stations 16\n"
      "     --samples i16 --detect stokes --times 763 --rate 195312.5\n"
      "  ridge channelize signal in.vdif                                            a file as written by an "
      "instrument\n"
      "\nA sample depends only on its index, not on --from-sample, so that a stream can be continued.");
  auto options = std::make_shared<SignalOptions>();
  command.option("OUT", options->out, "A file; - for standard output").required().writes();
  command.option("--stations", options->stations, "Number of stations").shows_default();
  command.option("--polarizations", options->polarizations, "Number of polarizations, 1 or 2").shows_default();
  command.option("--samples", options->samples, "Complex sample type: i4, i8, i16 or f32")
      .one_of({"i4", "i8", "i16", "f32"})
      .shows_default();
  command.option("--block", options->block, "Consecutive samples per station: the channels of the bank")
      .shows_default();
  command
      .option("--format", options->format,
              "Output format: raw, guppi, dada or vdif; auto: by extension .dada or .vdif, otherwise raw")
      .one_of({"auto", "raw", "guppi", "dada", "vdif"})
      .shows_default();
  command.option("--frequency", options->frequency, "Centre frequency of the first station in MHz, for the headers")
      .shows_default();
  command.option("--rate", options->rate, "Samples per second (default 195312.5; VDIF: 256000)").positive();
  command.option("--seconds", options->seconds, "Length in seconds, from --from-sample on").shows_default();
  command.option("--tone", options->tones, "Add a tone: Hz, or Hz:amplitude relative to full scale; may be repeated")
      .value_name("HZ[:A]");
  command.option("--seed", options->seed, "Random seed of the noise").shows_default();
  command.option("--from-sample", options->from_sample, "Index of the first sample");
  command.option("--chunk", options->chunk, "Raw: bytes written at a time").shows_default();
  command.flag("--pace", options->pace, "Write at the sample rate");
  command.runs([options] { write_signal(*options); });
}

}  // namespace ridge::cli
