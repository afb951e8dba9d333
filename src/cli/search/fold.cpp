// ridge fold and ridge periods: pulsars in filterbank files.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>
#include <ridge/search/fold.hpp>
#include <ridge/search/periods.hpp>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/arrays/npy_file.hpp"
#include "cli/search/power_file.hpp"
#include "command/command.hpp"
#include "io/images/picture.hpp"

namespace ridge::cli {
namespace {

struct FoldOptions {
  std::string in, out, polyco, png;
  double period = 0, derivative = 0, epoch = 0;
  std::size_t number = 0;
  search::FoldSettings settings{};
};

// Pushes the whole file with a progress bar; returns the rows.
template <class To>
std::uint64_t push_all(PowerFile& in, To& to, const char* what) {
  const base::Progress progress = base::terminal_progress();
  const auto all = in.rows_left();
  std::vector<std::byte> bytes;
  std::uint64_t rows = 0;
  const std::size_t at_once = std::max<std::size_t>(256, (std::size_t{8} << 20) / in.row_bytes());
  while (const std::size_t got = in.read(bytes, at_once)) {
    to.push(bytes);
    rows += got;
    if (all && *all > 0) progress(static_cast<double>(rows) / static_cast<double>(*all + 1), what);
  }
  progress(1, what);
  return rows;
}

search::Rotation rotation_of(const FoldOptions& options, const PowerFile& in) {
  search::Rotation rotation;
  if (!options.polyco.empty()) {
    constexpr std::size_t kLongest = std::size_t{64} << 20;
    const auto text = base::read_file(options.polyco, kLongest);
    if (!text) throw Error(ErrorKind::io, fmt::format("cannot read {}: no such file", options.polyco));
    rotation.polyco = search::parse_polyco(*text, options.polyco);
    if (in.header().tstart <= 0) mistake("--polyco needs a file with tstart (the MJD of its first sample)");
    rotation.start_day = static_cast<std::int64_t>(std::floor(in.header().tstart));
    rotation.start_second = 86400 * (in.header().tstart - std::floor(in.header().tstart));
    return rotation;
  }
  if (!(options.period > 0)) mistake("fold: needs --period SECONDS or --polyco FILE");
  if (options.period < in.band().interval) {
    mistake(fmt::format("--period {} is below the {} s of a sample: a pulse covers every bin", options.period,
                        in.band().interval));
  }
  rotation.frequency = 1 / options.period;
  rotation.derivative = -options.derivative / (options.period * options.period);
  rotation.epoch = options.epoch;
  return rotation;
}

void draw_profile(const std::string& name, const search::Profile& profile, const search::Band& band) {
  const std::vector<double> mean = profile.mean();
  std::vector<std::size_t> shape{profile.subbands, profile.bins};
  if (profile.subbands == 1) shape = {profile.bins};
  const std::size_t slab = profile.subbands == 1 ? 1 : profile.bins;
  const io::GridSource source{.shape = shape,
                              .type = io::ElementType::float32,
                              .names = {"power"},
                              .read = [&](std::size_t, std::size_t begin, std::size_t end, void* to) {
                                auto* out = static_cast<float*>(to);
                                for (std::size_t i = begin * slab; i < end * slab; ++i)
                                  *out++ = static_cast<float>(mean[i]);
                              }};
  io::PictureOptions options{.title = fmt::format("profile, S/N {:.1f}", profile.snr()), .y_up = band.step_mhz > 0};
  io::write_png(name, io::draw_field(source, 0, options).raster);
}

void run_fold(FoldOptions options) {
  PowerFile in(options.in, options.number);
  options.settings.bits = in.bits();
  options.settings.is_signed = in.header().is_signed;
  const double begin = base::now();
  search::Folder folder(in.band(), rotation_of(options, in), options.settings);
  const std::uint64_t rows = push_all(in, folder, "folding");
  if (rows == 0) throw Error(ErrorKind::io, options.in + ": contains no samples");
  const search::Profile profile = folder.profile();
  const double seconds = base::now() - begin;
  const std::vector<double> mean = profile.mean();
  write_npy(options.out, {.type = io::ElementType::float64, .shape = {profile.subbands, profile.bins}}, mean.data());
  if (!options.png.empty()) draw_profile(options.png, profile, in.band());
  if (const auto empty = std::ranges::count(profile.hits, 0u); empty > 0)
    base::warn(fmt::format("{} of {} bins hold no sample: the input is shorter than the period, or bins than a sample",
                           empty, profile.hits.size()));
  if (options.out == "-") return;
  const double sky = static_cast<double>(rows) * in.band().interval;
  fmt::print("{} bins, {} sub-band{}: S/N {:.1f} over {:.1f} s; folded in {}, {:.2f} times real time\n", profile.bins,
             profile.subbands, profile.subbands == 1 ? "" : "s", profile.snr(), sky, base::human_seconds(seconds),
             sky / seconds);
}

struct PeriodOptions {
  std::string in, out, acceleration = "0", device;
  double dm = 0;
  std::size_t number = 0;
  search::PeriodSettings settings{};
};

void write_periods(const std::string& name, const std::vector<search::PeriodCandidate>& found) {
  if (name.ends_with(".csv")) {
    std::string text = "period,frequency,acceleration,sigma,harmonics,power\n";
    for (const search::PeriodCandidate& one : found) {
      text += fmt::format("{:.12g},{:.12g},{:.6g},{:.3f},{},{:.3f}\n", one.period, one.frequency, one.acceleration,
                          one.sigma, one.harmonics, one.power);
    }
    return base::write_file(name, text);
  }
  base::Json list = base::Json::array();
  for (const search::PeriodCandidate& one : found) {
    list.push_back({{"period", one.period},
                    {"frequency", one.frequency},
                    {"acceleration", one.acceleration},
                    {"sigma", one.sigma},
                    {"harmonics", one.harmonics},
                    {"power", one.power}});
  }
  if (name == "-") return fmt::print("{}\n", list.dump(1));
  base::write_file(name, list.dump(1) + "\n");
}

void run_periods(PeriodOptions options) {
  const Range range = parse_range("--acceleration", options.acceleration);
  options.settings.acceleration_begin = range.begin;
  options.settings.acceleration_end = range.end;
  PowerFile in(options.in, options.number);
  largest_dm(in, options.dm);
  if (const auto rows = in.rows_left()) {
    const search::Band band = in.band();
    const double sweep = search::delay_seconds(options.dm, band.lowest_mhz(), band.highest_mhz()) / band.interval;
    search::check(options.settings, *rows - std::min(*rows, static_cast<std::uint64_t>(std::llround(sweep))),
                  band.interval);
  }
  search::Dedisperser series(in.band(), options.dm, in.bits(), in.header().is_signed);
  push_all(in, series, "dedispersing");
  const std::vector<float> samples = series.finish();
  const double begin = base::now();
  const base::Progress progress = base::terminal_progress();
  options.settings.progress = [&](double share) { progress(share, "searching periods"); };
  const auto found = search::find_periods(ridge::device(options.device), samples, in.band().interval, options.settings);
  const double seconds = base::now() - begin;
  if (!options.out.empty()) write_periods(options.out, found);
  if (options.out == "-") return;
  if (!found.empty()) {
    std::vector<std::vector<std::string>> rows{{"period, s", "frequency, Hz", "m/s^2", "sigma", "harmonics"}};
    for (std::size_t i = 0; i < std::min<std::size_t>(found.size(), 10); ++i) {
      rows.push_back({fmt::format("{:.9g}", found[i].period), fmt::format("{:.9g}", found[i].frequency),
                      fmt::format("{:.4g}", found[i].acceleration), fmt::format("{:.1f}", found[i].sigma),
                      std::to_string(found[i].harmonics)});
    }
    fmt::print("{}", base::table(rows));
  }
  fmt::print("{} period{} above {} sigma in {} samples; searched in {}\n", found.size(), found.size() == 1 ? "" : "s",
             options.settings.threshold, samples.size(), base::human_seconds(seconds));
}

}  // namespace

void add_fold(Command& program) {
  Command& command = program.subcommand("fold", "Fold filterbank data with the period of a pulsar");
  command.footer(
      "\nExamples:\n"
      "  ridge fold day.fil profile.npy --period 0.0333924 --pdot 4.2e-13 --dm 56.77 --bins 1024 --png profile.png\n"
      "  ridge fold day.fil profile.npy --polyco crab.polyco --dm 56.77 --subbands 64\n"
      "\nThe profile is sub-bands x bins, float64: mean power in units of each channel's deviation. The period is "
      "that\n"
      "at --epoch seconds after the first sample. Polyco files are those of tempo; they need tstart in the file.");
  auto options = std::make_shared<FoldOptions>();
  search::FoldSettings& settings = options->settings;
  command.option("in", options->in, "Filterbank file, or -").required().reads();
  command.option("out", options->out, "Profile, .npy").required().writes().ends_in({".npy"});
  const Option period = command.option("--period", options->period, "Period, s").between(1e-6, 1e6);
  const Option polyco = command.option("--polyco", options->polyco, "Polyco file of tempo").reads();
  polyco.not_with(period);
  command.option("--pdot", options->derivative, "Derivative of the period, s/s").between(-1, 1);
  command.option("--epoch", options->epoch, "Seconds after the first sample to which the period refers")
      .shows_default();
  command.option("--dm", settings.dm, "Dispersion measure, pc/cm^3").shows_default().between(0, 1e5);
  command.option("--bins", settings.bins, "Bins of the profile").shows_default().between(2, 65536);
  command.option("--subbands", settings.subbands, "Sub-bands of the profile").shows_default().between(1, 65536);
  command.option("--if", options->number, "IF (polarization), from 0").shows_default().between(0, 4095);
  command.option("--png", options->png, "Draw the profile").writes().ends_in({".png"});
  command.runs([options] { run_fold(*options); });
}

void add_periods(Command& program) {
  Command& command = program.subcommand("periods", "Search filterbank data for periodic signals");
  command.footer(
      "\nExamples:\n"
      "  ridge periods day.fil --dm 56.77 --out periods.json\n"
      "  ridge periods day.fil --dm 56.77 --acceleration -50..50 --harmonics 16\n"
      "\nThe channels are added at one dispersion measure and transformed. Powers are divided by their local mean and\n"
      "summed over 1, 2, 4 ... harmonics. The significance counts all frequencies, sums and accelerations.");
  auto options = std::make_shared<PeriodOptions>();
  search::PeriodSettings& settings = options->settings;
  command.option("in", options->in, "Filterbank file, or -").required().reads();
  command.option("--out", options->out, "Periods: .json, .csv, or - for JSON on standard output")
      .writes()
      .ends_in({".json", ".csv"});
  command.option("--dm", options->dm, "Dispersion measure, pc/cm^3").shows_default().between(0, 1e5);
  command.option("--acceleration", options->acceleration, "Range of accelerations, m/s^2: -50..50").shows_default();
  command.option("--acceleration-step", settings.acceleration_step, "Step between two accelerations, m/s^2 (0: chosen)")
      .shows_default()
      .between(0, 1e9);
  command.option("--harmonics", settings.harmonics, "Maximum number of harmonics summed: 1, 2, 4, 8, 16 or 32")
      .shows_default()
      .between(1, 32);
  command.option("--lowest", settings.lowest_hz, "Lowest frequency, Hz").shows_default().between(0, 1e9);
  command.option("--threshold", settings.threshold, "Minimum significance, in sigma").shows_default().between(0, 1e3);
  command.option("--most", settings.most, "Maximum number of periods listed").shows_default().between(1, 100000);
  command.option("--if", options->number, "IF (polarization), from 0").shows_default().between(0, 4095);
  command.option("--device", options->device, "Device of the transforms: host, cuda:0, opencl:pocl or best");
  command.threads(settings.threads);
  command.runs([options] { run_periods(*options); });
}

}  // namespace ridge::cli
