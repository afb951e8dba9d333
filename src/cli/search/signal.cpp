// ridge search signal: noise with pulses of known dispersion measure, width and S/N as a filterbank file.
#include <algorithm>
#include <cmath>
#include <memory>
#include <random>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/number.hpp"
#include "cli/search/power_file.hpp"
#include "command/command.hpp"

namespace ridge::cli {
namespace {

struct PulseOptions {
  std::string out, dm = "20..400", snr = "10..40", truth;
  std::size_t channels = 1024, bits = 8, count = 0, widest = 32, seed = 1;
  double top = 1500, bandwidth = 200, interval = 512e-6, seconds = 20;
  std::vector<std::string> pulses;
  bool smear = false;
};

search::Pulse parse_pulse(const std::string& text) {
  std::string_view rest = text;
  std::vector<double> numbers;
  while (const std::optional<double> number = base::leading_number(rest)) {
    numbers.push_back(*number);
    if (rest.empty() || rest.front() != ':') break;
    rest.remove_prefix(1);
  }
  if (numbers.size() != 4 || !rest.empty() || !(numbers[2] >= 1) || !(numbers[2] <= 1e6)) {
    mistake(fmt::format("--pulse {}: needs DM:SECONDS:SAMPLES:S/N, for example 350:1.5:8:20", text));
  }
  return {.dm = numbers[0], .time = numbers[1], .samples = static_cast<std::size_t>(numbers[2]), .snr = numbers[3]};
}

std::vector<search::Pulse> all_pulses(const PulseOptions& options, const search::Band& band) {
  std::vector<search::Pulse> pulses;
  for (const std::string& text : options.pulses) pulses.push_back(parse_pulse(text));
  const Range dm = parse_range("--dm", options.dm), snr = parse_range("--snr", options.snr);
  const double sweep = search::delay_seconds(dm.end, band.lowest_mhz(), band.highest_mhz());
  const double room = options.seconds - sweep - static_cast<double>(options.widest) * band.interval;
  if (options.count > 0 && !(room > 0))
    mistake(fmt::format("--seconds {}: pulses up to DM {} sweep {:.3g} s: make the file longer", options.seconds,
                        dm.end, sweep));
  std::mt19937_64 random(options.seed);
  const auto uniform = [&] { return std::ldexp(static_cast<double>(random() >> 11), -53); };
  for (std::size_t i = 0; i < options.count; ++i) {
    const double share = (static_cast<double>(i) + 0.2 + 0.6 * uniform()) / static_cast<double>(options.count);
    const double width = std::exp2(std::log2(static_cast<double>(options.widest)) * uniform());
    pulses.push_back({.dm = dm.begin + (dm.end - dm.begin) * uniform(),
                      .time = room * share,
                      .samples = std::max<std::size_t>(1, static_cast<std::size_t>(std::lround(width))),
                      .snr = snr.begin + (snr.end - snr.begin) * uniform()});
  }
  return pulses;
}

void write_test_signal(const PulseOptions& options) {
  const search::Band band{.channels = options.channels,
                          .first_mhz = options.top,
                          .step_mhz = -options.bandwidth / static_cast<double>(options.channels),
                          .interval = options.interval};
  const search::Simulation simulation{.band = band,
                                      .bits = options.bits,
                                      .seed = options.seed,
                                      .pulses = all_pulses(options, band),
                                      .smeared = options.smear};
  const auto rows = static_cast<std::uint64_t>(options.seconds / options.interval);
  if (rows == 0) mistake(fmt::format("--seconds {}: shorter than one sample", options.seconds));
  search::simulate(simulation, 0, 0, {});  // checks the pulses before the file is made
  io::SigprocHeader header;
  header.source_name = "simulated";
  header.tstart = 60000;
  header.tsamp = band.interval;
  header.fch1 = band.first_mhz;
  header.foff = band.step_mhz;
  header.nchans = static_cast<int>(band.channels);
  header.nbits = static_cast<int>(options.bits);
  io::OutputStream out(options.out);
  const std::string text = io::sigproc_header(header);
  out.write(text.data(), text.size());
  const std::size_t row = options.channels * options.bits / 8;
  const std::uint64_t at_once = std::max<std::uint64_t>(1, (std::uint64_t{8} << 20) / row);
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::min(at_once, rows)) * row);
  const base::Progress progress = base::terminal_progress();
  for (std::uint64_t first = 0; first < rows; first += at_once) {
    const auto some = static_cast<std::size_t>(std::min(at_once, rows - first));
    search::simulate(simulation, first, some, bytes);
    out.write(bytes.data(), some * row);
    progress(static_cast<double>(first + some) / static_cast<double>(rows), "noise and pulses");
  }
  out.finish();
  if (!options.truth.empty()) {
    base::Json list = base::Json::array();
    for (const search::Pulse& pulse : simulation.pulses) {
      const double width = static_cast<double>(pulse.samples) * band.interval;
      list.push_back({{"dm", pulse.dm},
                      {"time", pulse.time + width / 2},
                      {"snr", pulse.snr},
                      {"width", width},
                      {"samples", pulse.samples}});
    }
    base::write_file(options.truth, list.dump(1) + "\n");
  }
}

}  // namespace

void add_search_signal(Command& search) {
  Command& command = search.subcommand("signal", "Write noise with pulses of known DM, width and S/N");
  command.footer(
      "\nExamples:\n"
      "  ridge search signal test.fil --pulse 350:1.5:8:20     DM 350 at 1.5 s, 8 samples wide, S/N 20\n"
      "  ridge search signal test.fil --pulses 10 --truth pulses.json --bits 2\n"
      "\nThe S/N is that of the best boxcar over all channels, after rounding to the bits.");
  auto options = std::make_shared<PulseOptions>();
  command.option("out", options->out, "Filterbank file to write (.fil), or -").required().writes();
  command.option("--pulse", options->pulses, "A pulse: DM:SECONDS:SAMPLES:S/N; may be repeated");
  command.option("--pulses", options->count, "Number of random pulses").shows_default().between(0, 100000);
  command.option("--dm", options->dm, "Dispersion measures of random pulses").shows_default();
  command.option("--snr", options->snr, "S/N of random pulses").shows_default();
  command.option("--widest", options->widest, "Widest random pulse, in samples").shows_default().between(1, 100000);
  command.flag("--smear", options->smear, "Smear pulses within channels and begin between samples, as in the sky");
  command.option("--truth", options->truth, "Write the pulses as JSON").writes().ends_in({".json"});
  command.option("--channels", options->channels, "Channels").shows_default().between(1, 65536);
  command.option("--top", options->top, "Centre of the highest channel, MHz").shows_default().positive();
  command.option("--bandwidth", options->bandwidth, "Width of the band, MHz").shows_default().positive();
  command.option("--interval", options->interval, "Seconds per sample").shows_default().between(1e-9, 1e3);
  command.option("--seconds", options->seconds, "Length of the file").shows_default().positive();
  command.option("--bits", options->bits, "Bits per value: 1, 2, 4, 8, 16 or 32").shows_default().between(1, 32);
  command.option("--seed", options->seed, "Seed of the noise and of random pulses").shows_default();
  command.runs([options] { write_test_signal(*options); });
}

}  // namespace ridge::cli
