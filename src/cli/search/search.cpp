// ridge search: finds dispersed pulses in filterbank files.
#include <algorithm>
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/search/found.hpp"
#include "cli/search/power_file.hpp"
#include "cli/search/waterfall.hpp"
#include "command/command.hpp"
#include "command/output_folder.hpp"
#include "command/process.hpp"

namespace ridge::cli {
namespace {

struct SearchOptions {
  std::string in, out, dm = "0..1000", device, variant, svg, plots, flags, mask, schedule, waterfall;
  std::size_t number = 0, most_plots = 20;
  search::Settings settings{};
  bool explain = false, measure = false, quiet = false;
};

// Writes the mask as a filterbank file of the input's shape: 1 bit per value, or 8 unless rows are whole bytes.
class MaskWriter {
 public:
  MaskWriter(const std::string& name, const PowerFile& of) : out_(name), channels_(of.band().channels) {
    io::SigprocHeader header = of.header();
    header.nifs = 1;
    header.is_signed = false;
    header.nsamples = 0;
    header.nbits = channels_ % 8 == 0 ? 1 : 8;
    const std::string text = io::sigproc_header(header);
    out_.write(text.data(), text.size());
  }
  void write(std::span<const std::byte> bits, std::size_t rows) {
    if (channels_ % 8 == 0) return out_.write(bits.data(), bits.size());
    const std::size_t row = (channels_ + 7) / 8;
    std::vector<std::uint8_t> bytes(channels_);
    for (std::size_t r = 0; r < rows; ++r) {
      for (std::size_t c = 0; c < channels_; ++c) {
        bytes[c] = std::to_integer<unsigned>(bits[r * row + c / 8]) >> (c % 8) & 1U ? 1 : 0;
      }
      out_.write(bytes.data(), bytes.size());
    }
  }
  void finish() { out_.finish(); }

 private:
  io::OutputStream out_;
  std::size_t channels_;
};

// Reads a mask of the form that MaskWriter writes.
class MaskReader {
 public:
  MaskReader(const std::string& name, const PowerFile& of) : file_(name) {
    const std::size_t bits = of.band().channels % 8 == 0 ? 1 : 8;
    if (file_.band().channels != of.band().channels || file_.bits() != bits) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("--mask {}: needs {} channels of {} bits as the input has, got {} of {} bits", name,
                              of.band().channels, bits, file_.band().channels, file_.bits()));
    }
    const auto rows = file_.rows_left(), wanted = of.rows_left();
    if (rows && wanted && *rows != *wanted)
      mistake(fmt::format("--mask {}: holds {} rows, and {} holds {}", name, *rows, of.name(), *wanted));
  }
  // Adds the flags of the next rows to `bits`.
  void add(std::vector<std::byte>& bits, std::size_t rows) {
    const std::size_t channels = file_.band().channels, row = (channels + 7) / 8, got = file_.read(bytes_, rows);
    if (got < rows) throw Error(ErrorKind::io, fmt::format("--mask {}: ends before the input", file_.name()));
    for (std::size_t r = 0; r < got; ++r) {
      if (file_.bits() == 1) {
        std::copy_n(bytes_.begin() + static_cast<std::ptrdiff_t>(r * row), row,
                    bits.begin() + static_cast<std::ptrdiff_t>(r * row));
        continue;
      }
      for (std::size_t c = 0; c < channels; ++c) {
        if (bytes_[r * channels + c] != std::byte{0}) bits[r * row + c / 8] |= std::byte(1U << (c % 8));
      }
    }
  }

 private:
  PowerFile file_;
  std::vector<std::byte> bytes_;
};

struct SearchRun {
  std::vector<search::Candidate> found{};
  std::uint64_t rows = 0, rows_lost = 0;
  double seconds = 0;
};

// Rows of the input as they pass from the reading stage to the searching one.
struct SearchRows {
  std::vector<std::byte> bytes{}, bits{};  // bits: flags, empty if there are none
  std::size_t count = 0;
  std::uint64_t lost = 0;  // rows lost so far
};

// Reads the next rows while earlier ones are searched. The stage owns the files, because a read from a pipe may never
// return.
graph::Graph::Edge read_stage(graph::Graph& graph, const std::shared_ptr<PowerFile>& in,
                              const std::shared_ptr<MaskReader>& reader) {
  const std::size_t at_once = std::max<std::size_t>(256, (std::size_t{8} << 20) / in->row_bytes());
  return graph.stage("read", {}, {.may_block = true}, [in, reader, at_once](graph::Step& step) -> std::size_t {
    if (!step.out->value.has_value()) step.out->value = SearchRows{};
    auto& rows = *std::any_cast<SearchRows>(&step.out->value);
    rows.count = in->read(rows.bytes, at_once);
    rows.bits.clear();
    if (rows.count > 0 && (reader || in->knows_losses())) {
      rows.bits.resize(rows.count * ((in->band().channels + 7) / 8));
      if (reader) reader->add(rows.bits, rows.count);
      if (in->knows_losses()) in->flag_lost(rows.bits);
    }
    rows.lost = in->rows_lost();
    return rows.count;
  });
}

SearchRun run_through(const SearchOptions& options, const std::shared_ptr<PowerFile>& file, search::Stream& stream) {
  SearchRun run;
  const PowerFile& in = *file;  // from here on only what does not change while it is read
  std::unique_ptr<MaskWriter> writer;
  const auto reader = options.mask.empty() ? nullptr : std::make_shared<MaskReader>(options.mask, in);
  std::unique_ptr<WaterfallPicture> picture;
  if (!options.flags.empty()) writer = std::make_unique<MaskWriter>(options.flags, in);
  if (!options.waterfall.empty()) picture = std::make_unique<WaterfallPicture>(in);
  if (writer || picture) {
    stream.on_mask([&](std::span<const std::byte> bits, std::size_t rows) {
      if (writer) writer->write(bits, rows);
      if (picture) picture->flag(bits, rows);
    });
  }
  const base::Progress progress = options.quiet ? base::Progress{} : base::terminal_progress();
  const auto all = in.rows_left();
  const double begin = base::now();
  double working = 0;  // seconds of the search, without waiting for rows
  LiveWaterfall waterfall(in);
  const auto status = [&](bool ended) {
    base::Json json;
    const double sky = static_cast<double>(run.rows) * in.band().interval;
    json["seconds"] = sky;
    json["margin"] = sky / std::max(working, 1e-9);
    json["rows_lost"] = run.rows_lost;
    json["ended"] = ended;
    constexpr std::size_t kShown = 50;
    const auto from = run.found.end() - static_cast<std::ptrdiff_t>(std::min(run.found.size(), kShown));
    json["count"] = run.found.size();
    json["candidates"] = candidates_json({from, run.found.end()}, in.header().tstart);
    json["waterfall"] = waterfall.json();
    return json;
  };
  graph::Graph graph;
  const auto read = read_stage(graph, file, reader);
  graph.stage("search", {read}, {.in_caller = true}, [&](graph::Step& step) -> std::size_t {
    const auto& rows = *std::any_cast<SearchRows>(&step.in[0]->value);
    const double before = base::now();
    if (!rows.bits.empty()) stream.push_mask(rows.bits);
    stream.push(rows.bytes);
    run.rows += rows.count;
    run.rows_lost = rows.lost;
    for (const search::Candidate& one : stream.take()) run.found.push_back(one);
    working += base::now() - before;
    if (wants_status()) waterfall.add(rows.bytes, rows.count);
    if (picture) picture->add(rows.bytes, rows.count);
    show_status([&] { return status(false); });
    if (progress && all && *all > 0) {
      progress(static_cast<double>(run.rows) / static_cast<double>(*all + 1),
               fmt::format("{} candidates", run.found.size()));
    }
    return 0;
  });
  const graph::Report schedule = graph.run();
  for (const search::Candidate& one : stream.finish()) run.found.push_back(one);
  run.seconds = base::now() - begin;
  show_status([&] { return status(true); }, true);
  if (progress) progress(1, "");
  write_schedule(options.schedule, schedule);
  if (writer) writer->finish();
  if (picture) picture->write(options.waterfall);
  std::stable_sort(run.found.begin(), run.found.end(),
                   [](const search::Candidate& a, const search::Candidate& b) { return a.time < b.time; });
  return run;
}

void print_found(const SearchOptions& options, const search::Band& band, const search::Stream& stream,
                 const SearchRun& run) {
  const search::Report& report = stream.report();
  const double sky = static_cast<double>(run.rows) * band.interval;
  if (!run.found.empty()) {
    std::vector<std::vector<std::string>> rows{{"time, s", "DM", "S/N", "width, ms", "members"}};
    std::vector<search::Candidate> strongest = run.found;
    std::stable_sort(strongest.begin(), strongest.end(), [](const auto& a, const auto& b) { return a.snr > b.snr; });
    for (std::size_t i = 0; i < std::min<std::size_t>(strongest.size(), 10); ++i) {
      const search::Candidate& one = strongest[i];
      rows.push_back({fmt::format("{:.6f}", one.time), fmt::format("{:.2f}", one.dm), fmt::format("{:.1f}", one.snr),
                      fmt::format("{:.3f}", 1e3 * one.width), std::to_string(one.members)});
    }
    fmt::print("{}", base::table(rows));
  }
  fmt::print(
      "{} candidate{} above {} sigma in {:.2f} s of {} channels, {} trials; searched in {}, {:.2f} times real "
      "time\n",
      run.found.size(), run.found.size() == 1 ? "" : "s", options.settings.threshold, sky, band.channels,
      stream.trials(), base::human_seconds(run.seconds), sky / run.seconds);
  fmt::print("time: input {}, dedispersion {}, filters and candidates {}\n", base::human_seconds(report.seconds_input),
             base::human_seconds(report.seconds_dedispersion), base::human_seconds(report.seconds_boxcars));
  if (report.flagged > 0) {
    fmt::print("flagged: {:.3g} % of all values{}\n",
               100.0 * static_cast<double>(report.flagged) /
                   (static_cast<double>(run.rows) * static_cast<double>(band.channels)),
               report.not_numbers > 0 ? fmt::format(", {} of them NaN or infinite", report.not_numbers) : "");
  }
  if (report.constant_channels > 0) {
    const double blocks = std::ceil(static_cast<double>(run.rows) / static_cast<double>(stream.block()));
    fmt::print("left out: {:.3g} % of the channels, constant or flagged throughout\n",
               100.0 * static_cast<double>(report.constant_channels) / (blocks * static_cast<double>(band.channels)));
  }
  if (options.settings.dm_end < parse_range("--dm", options.dm).end) {
    fmt::print("left out: DM above {:.4g}, whose sweep takes longer than the input\n", options.settings.dm_end);
  }
  if (run.rows_lost > 0) fmt::print("lost: {} rows of the input hold lost samples and are flagged\n", run.rows_lost);
  if (report.crowded_blocks > 0) {
    fmt::print("warning: {} blocks had more than {} candidates: interference? (--flag 6 excises it)\n",
               report.crowded_blocks, options.settings.most_per_block);
  }
}

void run_search(SearchOptions options) {
  const Range range = parse_range("--dm", options.dm);
  if (!options.plots.empty() && (options.in == "-" || io::is_ring(options.in)))
    mistake("--plots reads the input again: it needs a file, not a pipe or a ring");
  check_output_folder("--plots", options.plots);
  const auto file = std::make_shared<PowerFile>(options.in, options.number);
  const PowerFile& in = *file;
  options.settings.bits = in.bits();
  options.settings.is_signed = in.header().is_signed;
  if (const auto rows = in.rows_left()) {
    if (options.settings.flagging.kurtosis > *rows)
      mistake(fmt::format("--kurtosis {}: the input has {} samples", options.settings.flagging.kurtosis, *rows));
    // Blocks have 64 of the widest boxcars, but need not exceed the input.
    options.settings.widest = static_cast<std::size_t>(std::min<std::uint64_t>(options.settings.widest, *rows));
    if (options.settings.block == 0 && *rows / 64 < options.settings.widest)
      options.settings.block = static_cast<std::size_t>(*rows);
  }
  const search::Band band = in.band();
  // No sample has the whole sweep of a larger dispersion measure.
  const double largest = largest_dm(in, range.begin);
  options.settings.dm_begin = range.begin;
  options.settings.dm_end = std::min(range.end, std::max(largest, range.begin));
  if (!options.quiet) base::terminal_progress()(0, "planning");
  search::Stream stream(ridge::device(options.device), band, options.settings,
                        {.effort = options.measure ? Effort::measured : Effort::quick, .variant = options.variant});
  base::clear_progress();
  if (options.explain) fmt::print("{}", stream.explain());
  const SearchRun run = run_through(options, file, stream);
  if (run.rows == 0) throw Error(ErrorKind::io, options.in + ": contains no samples");
  if (!options.out.empty()) write_candidates(options.out, run.found, in.header().tstart);
  if (!options.svg.empty()) {
    base::write_file(options.svg,
                     overview_svg(run.found, static_cast<double>(run.rows) * band.interval, range.begin, range.end));
  }
  if (!options.plots.empty()) write_pictures(options.plots, options.in, options.number, run.found, options.most_plots);
  if (options.out != "-") print_found(options, band, stream, run);
}

}  // namespace

void add_search(Command& program) {
  Command& command = program.subcommand("search", "Find dispersed pulses in filterbank files (.fil)");
  command.footer(
      "\nExamples:\n"
      "  ridge search signal test.fil --pulses 5            noise with pulses of known DM, width and S/N\n"
      "  ridge search test.fil --dm 0..500 --out candidates.json --plots found\n"
      "  ridge search day.fil --dm 0..3000 --tolerance 1.25 --flag 6 --flags-out day.flags.fil --out day.csv\n"
      "  receiver | ridge search - --dm 50..60 --out -      from a pipe, candidates as JSON on standard output\n"
      "\nChannels are normalized per block, dedispersed for every trial, and filtered with boxcars of 1, 2, 3, 4, 6, 8 "
      "...\n"
      "samples. Neighbouring detections are joined, and the best one is measured again with exact delays. The S/N is\n"
      "sum / (sigma * sqrt(width)). Times refer to the centre of the highest channel. Files may be larger than "
      "memory.");
  command.may_have_subcommand();
  auto options = std::make_shared<SearchOptions>();
  search::Settings& settings = options->settings;
  command.option("in", options->in, "Filterbank file of 1, 2, 4, 8, 16 or 32 bits, - or ring:NAME").reads();
  command.option("--dm", options->dm, "Range of dispersion measures, pc/cm^3: 0..3000").shows_default();
  command.option("--out", options->out, "Candidates: .json, .csv, or - for JSON on standard output")
      .writes()
      .ends_in({".json", ".csv"});
  command.option("--threshold", settings.threshold, "Minimum S/N of a candidate").shows_default().between(3, 1e6);
  command.option("--tolerance", settings.tolerance, "Broadening of a pulse between two trials")
      .shows_default()
      .between(1.0001, 10);
  command.option("--widest", settings.widest, "Widest boxcar, in input samples").shows_default().between(1, 1 << 20);
  command.option("--if", options->number, "IF (polarization) to search, from 0").shows_default().between(0, 4095);
  command.option("--svg", options->svg, "Draw time against dispersion measure").writes().ends_in({".svg"});
  command.option("--waterfall", options->waterfall, "Draw power by time and frequency, flagged cells red")
      .writes()
      .ends_in({".png"});
  command.option("--plots", options->plots, "Folder for a picture per candidate").value_name("FOLDER");
  command.option("--most-plots", options->most_plots, "Pictures of the strongest candidates").shows_default();
  command.option("--flag", settings.flagging.threshold, "SumThreshold: first limit in sigma (6 is usual); 0: off")
      .shows_default()
      .between(0, 1e6);
  command
      .option("--flag-channels", settings.flagging.channel_sigma,
              "Exclude channels that differ from their neighbours by this many robust deviations; 0: off")
      .shows_default()
      .between(0, 1e6);
  command
      .option("--kurtosis", settings.flagging.kurtosis,
              "Spectral kurtosis over this many samples, for unscaled power; 0: off")
      .shows_default()
      .between(0, 65536);
  command.option("--shape", settings.flagging.shape, "Kurtosis: powers per sample, times 1/2 for real voltages")
      .shows_default()
      .between(0.25, 10000);
  command.option("--false-alarm", settings.flagging.false_alarm, "Kurtosis: share of noise that is flagged")
      .shows_default()
      .between(1e-7, 0.4);
  command.option("--mask", options->mask, "Flags to apply, as --flags-out writes them").reads();
  command.option("--flags-out", options->flags, "Write all flags as a .fil file of the input's shape")
      .writes()
      .ends_in({".fil"});
  command.device(options->device);
  command.option("--variant", options->variant,
                 "Dedispersion: brute_force, brute_force_matrix, tree or fourier, with parameters as --explain prints");
  command.flag("--exact", settings.exact,
               "Exact delays and finer samples: no narrow pulse near the threshold is missed");
  command.option("--block", settings.block, "Input samples per block (0: chosen)").shows_default().between(0, 1e8);
  command.bytes("--memory", settings.memory, "Memory for the arrays of a block");
  command.threads(settings.threads);
  add_schedule_option(command, options->schedule);
  command.flag("--measure", options->measure, "Time the variants and use the fastest");
  command.flag("--explain", options->explain, "Print the trials and the plans");
  command.flag("--quiet", options->quiet, "Show no progress");
  add_search_signal(command);
  add_search_convert(command);
  Command* own = &command;
  command.runs([options, own] {
    if (own->has_subcommand()) return;
    if (options->in.empty()) mistake("search: needs a filterbank file, or - (see ridge search --help)");
    run_search(*options);
  });
}

}  // namespace ridge::cli
