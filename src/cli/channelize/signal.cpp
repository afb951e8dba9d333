#include "cli/channelize/signal.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <memory>
#include <thread>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/clock.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "cli/channelize/signal_formats.hpp"
#include "cli/command.hpp"
#include "cli/mistake.hpp"
#include "io/signal.hpp"
#include "io/stream.hpp"

namespace ridge::cli {
namespace {

struct SignalWishes {
  std::string out, samples = "i8", format = "auto";
  std::size_t stations = 1, polarizations = 2, block = 256;
  double rate = 0, seconds = 1, frequency = 150;  // rate 0: what suits the format
  std::uint64_t seed = 1, from_sample = 0, chunk = std::uint64_t{1} << 20;
  std::vector<std::string> tones;
  bool pace = false;
};

io::Tone parse_tone(const std::string& text, double rate) {
  double hertz = 0, amplitude = 0.5;
  int used = 0;
  if (std::sscanf(text.c_str(), "%lf%n", &hertz, &used) != 1) used = -1;
  if (used > 0 && static_cast<std::size_t>(used) < text.size()) {
    int more = 0;
    used = std::sscanf(text.c_str() + used, ":%lf%n", &amplitude, &more) == 1 ? used + more : -1;
  }
  if (used != static_cast<int>(text.size()) || !std::isfinite(hertz) || !(amplitude >= 0 && amplitude <= 1)) {
    mistake(fmt::format("--tone {}: Hz, or Hz:amplitude with an amplitude up to 1", text));
  }
  return {hertz / rate, amplitude};
}

void write_signal(SignalWishes wishes) {
  wishes.format = signal_format_name(wishes.format, wishes.out);
  if (wishes.rate == 0) wishes.rate = default_rate(wishes.format);
  io::SampleInfo info;
  info.type = wishes.samples == "i4"    ? io::SampleType::int4
              : wishes.samples == "i8"  ? io::SampleType::int8
              : wishes.samples == "i16" ? io::SampleType::int16
                                        : io::SampleType::float32;
  info.streams = wishes.stations;
  info.polarizations = wishes.polarizations;
  info.block = block_of_format(wishes.format, wishes.block);
  info.sample_seconds = 1 / wishes.rate;
  info.frequency_mhz = wishes.frequency;
  if (!(wishes.rate > 0) || !(wishes.seconds >= 0) || wishes.seconds * wishes.rate > 9e15) {
    mistake(
        fmt::format("--rate must be above 0 and --seconds at least 0, at most 9e15 samples in all; got --rate {} "
                    "--seconds {}",
                    wishes.rate, wishes.seconds));
  }
  if (wishes.stations == 0 || wishes.block == 0 || wishes.chunk == 0 || wishes.polarizations < 1 ||
      wishes.polarizations > 2 || wishes.stations > (1u << 20) || wishes.block > (1u << 24)) {
    mistake("--stations, --block and --chunk are at least 1, --polarizations 1 or 2");
  }
  const std::uint64_t frame = info.block * info.sample_bytes();
  if (wishes.from_sample % info.block != 0) {
    mistake(fmt::format("--from-sample {}: a multiple of --block {} is wanted", wishes.from_sample, wishes.block));
  }
  std::vector<io::Tone> tones;
  for (const std::string& text : wishes.tones) tones.push_back(parse_tone(text, wishes.rate));
  const io::Signal signal(info, wishes.seed, std::move(tones));

  const auto samples = static_cast<std::uint64_t>(std::ceil(wishes.seconds * wishes.rate));
  std::uint64_t at = wishes.from_sample / info.block * frame;
  const std::uint64_t first = at, end = first + (samples + info.block - 1) / info.block * frame;
  io::OutputStream out(wishes.out);
  const auto format = signal_format(wishes.format, info, wishes.from_sample / info.block, end - first, out);
  // Whole blocks; a raw file is its bytes.
  std::vector<std::byte> bytes(wishes.format == "raw" ? std::size_t{1} << 20
                                                      : ((std::size_t{1} << 20) / frame + 1) * frame);
  const auto progress = base::terminal_progress();
  const double begun = base::now();
  while (at < end) {
    const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), end - at));
    signal.fill(at, std::span(bytes).first(now));
    const std::size_t pieces = wishes.format == "raw" ? wishes.chunk : now;
    for (std::size_t done = 0; done < now;) {
      const auto piece = static_cast<std::size_t>(std::min<std::uint64_t>(pieces, now - done));
      format->put(std::span<const std::byte>(bytes).subspan(done, piece));
      done += piece;
    }
    at += now;
    const double due = static_cast<double>((at - first) / info.sample_bytes()) / wishes.rate;
    const double ahead = due - (base::now() - begun);
    if (wishes.pace && ahead > 0) std::this_thread::sleep_for(std::chrono::duration<double>(ahead));
    progress(static_cast<double>(at - first) / static_cast<double>(end - first), base::human_seconds(due));
  }
  progress(1, "");
  out.finish();
}

}  // namespace

void add_channelize_signal(Command& channelize) {
  Command& command = channelize.subcommand("signal", "Synthetic samples: noise and tones, to a file or pipe");
  command.footer(
      "\nExamples:\n"
      "  ridge channelize signal in.raw --stations 16 --seconds 10 --tone 1000:0.3\n"
      "  ridge channelize signal - --stations 16 --samples i16 --seconds 3600 | ridge channelize - out.raw "
      "--stations 16\n"
      "     --samples i16 --detect stokes --times 763 --rate 195312.5\n"
      "  ridge channelize signal in.vdif                                            a file as an instrument writes it\n"
      "\nThe same samples at the same place wherever it begins (--from-sample): a stream can be gone on with.");
  auto wishes = std::make_shared<SignalWishes>();
  command.option("OUT", wishes->out, "A file; - for standard output").required().writes();
  command.option("--stations", wishes->stations, "Stations").shows_default();
  command.option("--polarizations", wishes->polarizations, "1 or 2").shows_default();
  command.option("--samples", wishes->samples, "i4, i8, i16 or f32, complex")
      .one_of({"i4", "i8", "i16", "f32"})
      .shows_default();
  command.option("--block", wishes->block, "Samples of a station that lie together: the channels of the bank")
      .shows_default();
  command
      .option("--format", wishes->format, "raw, guppi, dada or vdif, with their headers; auto: .dada, .vdif, else raw")
      .one_of({"auto", "raw", "guppi", "dada", "vdif"})
      .shows_default();
  command.option("--frequency", wishes->frequency, "MHz, of the first station's middle, for the headers")
      .shows_default();
  command.option("--rate", wishes->rate, "Samples per second (default 195312.5; VDIF: 256000)").positive();
  command.option("--seconds", wishes->seconds, "Length, from --from-sample on").shows_default();
  command.option("--tone", wishes->tones, "Hz, or Hz:amplitude (of the largest number); several").value_name("HZ[:A]");
  command.option("--seed", wishes->seed, "Of the noise").shows_default();
  command.option("--from-sample", wishes->from_sample, "Number of the first sample written");
  command.option("--chunk", wishes->chunk, "Raw: bytes written at a time").shows_default();
  command.flag("--pace", wishes->pace, "Not faster than real time");
  command.runs([wishes] { write_signal(*wishes); });
}

}  // namespace ridge::cli
