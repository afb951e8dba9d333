// ridge channelize: polyphase filter banks over files and pipes.
#include <cmath>
#include <memory>

#include <fmt/format.h>

#include "base/files.hpp"
#include "cli/channelize/files.hpp"
#include "command/command.hpp"
#include "command/process.hpp"
#include "filterbank/prototype/measure.hpp"

namespace ridge::cli {

void add_prototype_options(Command& command, PrototypeOptions& options) {
  command.option("--channels", options.channels, "Number of channels").shows_default().between(1, 1 << 24);
  command.option("--taps", options.taps, "Taps of each channel's filter").shows_default().between(1, 1 << 16);
  command.option("--window", options.window, "Window of the sinc: kaiser, hamming, blackman or gaussian")
      .one_of({"kaiser", "hamming", "blackman", "gaussian"})
      .shows_default();
  command.option("--shape", options.shape,
                 "Shape of the window: kaiser: beta (default 10.61); gaussian: sigma in half lengths (default 0.22)");
  command.option("--width", options.width, "Channel width at -6 dB, in channel spacings").shows_default();
  command.option("--weights", options.weights, "File of a prototype, channels x taps numbers: .npy, or raw float64")
      .reads();
}

namespace {

// Measures the prototype through the bank: leakage of tones near channel centres, and reconstruction error of noise by
// analysis and synthesis for several ratios.
void measure_design(const PrototypeOptions& options, const std::vector<double>& h) {
  constexpr int kSteps = 32;
  double worst = -1000, at = 0;
  for (int i = -kSteps / 2; i <= kSteps / 2; ++i) {
    const double off = static_cast<double>(i) / kSteps;
    const double leak = filterbank::leakage_of_tone_db(host(), h, options.channels, off);
    if (!std::isnan(worst) && !(leak <= worst)) worst = leak, at = off;
  }
  fmt::print("measured with {} tones: {:.1f} dB beyond 1.5 channels (worst tone {:+.3f} channels from a centre)\n",
             kSteps + 1, worst, at);
  fmt::print("reconstruction error of noise, with a synthesis filter 1.5 times as long as the prototype:\n");
  for (const filterbank::Ratio& ratio : filterbank::oversampling_ratios(options.channels)) {
    fmt::print("  {:>2}/{:<2}  {:7.1f} dB\n", ratio.numerator, ratio.denominator,
               filterbank::reconstruction_db(host(), h, options.channels, ratio));
  }
  fmt::print(
      "  critical sampling {:.1f} dB, 6 times as long {:.1f} dB: channels alias at their edges and no filter "
      "removes this\n",
      filterbank::reconstruction_db(host(), h, options.channels, {1, 1}),
      filterbank::reconstruction_db(host(), h, options.channels, {1, 1}, 6));
}

void add_design(Command& channelize) {
  Command& command =
      channelize.subcommand("design", "Draw the prototype's response as SVG; print leakage and ripple in dB");
  command.footer(
      "\nExamples:\n"
      "  ridge channelize design response.svg --channels 256 --taps 16\n"
      "  ridge channelize design - --window hamming                 figures only, without a drawing\n"
      "  ridge channelize design - --channels 64 --measure          through the bank: leakage of tones, reconstruction "
      "of noise");
  auto options = std::make_shared<PrototypeOptions>();
  auto out = std::make_shared<std::string>();
  auto shown = std::make_shared<double>(4);
  auto save = std::make_shared<std::string>();
  command.option("OUT", *out, "The SVG file; - for none").required().writes();
  add_prototype_options(command, *options);
  command.option("--show", *shown, "Channels shown on each side").shows_default().between(0.5, 64.0);
  command.option("--save", *save, "Write the prototype as raw float64, for --weights").writes();
  auto measure = std::make_shared<bool>(false);
  command.flag("--measure", *measure,
               "Also measure leakage and reconstruction through the bank, at every ratio from 8/7 up");
  command.runs([options, out, shown, save, measure] {
    const std::vector<double> h = prototype_for(*options);
    const filterbank::Quality quality = filterbank::quality(h, options->channels);
    fmt::print(
        "{} channels x {} taps: leakage {:.1f} dB beyond {:g} channels, edge {:.2f} dB, ripple {:.4f} dB within a "
        "quarter\n",
        options->channels, options->taps, quality.leakage_db, quality.beyond, quality.edge_db, quality.ripple_db);
    if (*measure) measure_design(*options, h);
    if (!save->empty()) {
      base::write_file(*save, {reinterpret_cast<const char*>(h.data()), h.size() * sizeof(double)});
    }
    if (*out != "-") base::write_file(*out, filterbank::response_svg(h, options->channels, quality, *shown));
  });
}

// Options whose presence matters, besides their value.
struct GivenOptions {
  Option stations, polarizations, frequency;
};

GivenOptions add_input_options(Command& command, const std::shared_ptr<ChannelizeOptions>& options) {
  command
      .option("--format", options->format,
              "Input format: auto (by name and first bytes), raw, npy, guppi, dada or vdif")
      .one_of({"auto", "raw", "npy", "guppi", "dada", "vdif"})
      .shows_default();
  command
      .option("--output-format", options->output_format,
              "Output format: auto (by the ending of OUT), raw, fil or dada, for standard output")
      .one_of({"auto", "raw", "fil", "dada"})
      .shows_default();
  command.option("--lost", options->lost, "Raw and PSRDADA input: lost bytes, as ridge capture --flags lists them")
      .reads();
  const Option stations =
      command.option("--stations", options->stations, "Raw input: number of stations (.npy: given by its shape)")
          .shows_default();
  const Option polarizations = command.option("--polarizations", options->polarizations,
                                              "Raw, one-axis .npy and VDIF input: polarizations, 1 or 2");
  polarizations.shows_default();
  command.option("--samples", options->samples, "Raw input: complex sample type, i4, i8, i16 or f32")
      .one_of({"i4", "i8", "i16", "f32"})
      .shows_default();
  command.option("--block", options->block, "Raw input: consecutive samples per station (default: channels)");
  command.flag("--centred", options->centred,
               "Channel 0 is the lowest frequency (even number of channels; always so in .fil)");
  command.option("--rate", options->rate, "Samples per second, for the real-time margin and the headers").positive();
  const Option frequency = command.option("--frequency", options->frequency,
                                          "Centre frequency of the (first station's) band in MHz, for the headers");
  command.option("--start", options->start,
                 "Time of the first sample, UTC (yyyy-mm-ddThh:mm:ss) or MJD, for the headers");
  command.option("--source", options->source, "Name of the source, for the headers");
  command.option("--telescope", options->telescope, "Name of the telescope, for the headers");
  return {stations, polarizations, frequency};
}

void add_output_options(Command& command, const std::shared_ptr<ChannelizeOptions>& options) {
  const Option bits = command.option("--bits", options->bits,
                                     ".fil: bits per value, 32 (float), or 8 with offset and scale per channel");
  bits.one_of({"8", "32"}).shows_default();
  command
      .option("--levels", options->levels,
              "--bits 8: file of offsets and scales, one line per product and channel (default: from the first 1024 "
              "times, written "
              "to OUT.levels)")
      .value_name("FILE")
      .only_with(bits);
  command.option("--detect", options->detect, "Write power instead of channels: total, powers or stokes")
      .one_of({"total", "powers", "stokes"});
  command.option("--times", options->times, "Power and correlation: number of spectra to sum").shows_default();
  command
      .option("--kurtosis", options->kurtosis,
              "Power: flag sums whose spectral kurtosis differs from that of noise; value: flagged fraction of pure "
              "noise (0.0027 is usual). "
              "Files: --flags FILE.fil; pipes and rings: flagged values are NaN")
      .between(0, 0.4);
  command
      .option("--sum-channels", options->sum_channels, "Power and correlation: number of neighbouring channels to sum")
      .shows_default();
  command
      .option(
          "--order", [options](const std::string& text) { options->by_channel = text == "channel"; },
          "Order of the output: time or channel")
      .one_of({"time", "channel"});
  command.option("--output-times", options->output_times, "--order channel: consecutive times per block")
      .shows_default();
  command
      .option("--bandpass", options->bandpass,
              "File of factors, one per channel or one per (polarization, station, channel)")
      .reads();
  command
      .option(
          "--delays", options->delays,
          "File of delays to correct: per line a sample number and one delay in samples per (polarization, station), "
          "interpolated linearly")
      .reads();
  command
      .option("--replace-weights", options->replacements,
              "Replace the prototype (as --weights) from the first spectrum whose newest sample has this number or a "
              "later one; may be repeated, in order")
      .value_name("SAMPLE:FILE");
  command.flag("--correlate", options->correlate, "Correlate every pair of stations, over --times spectra");
  command
      .option("--arithmetic", options->arithmetic,
              "--correlate: number type of the factors: float32, or float16 or int8, rounded from --scale times the "
              "spectra")
      .shows_default();
  command
      .option("--positions", options->positions,
              "OUT.uvfits: positions of the stations, .npy of float64, (stations, 3), metres east, north and up of "
              "--site")
      .reads();
  command.option(
      "--site", options->site,
      "OUT.uvfits: longitude and latitude of the array in degrees, and its height in metres (lon,lat[,height])");
  command.option("--phase-centre", options->phase_centre,
                 "OUT.uvfits: right ascension and declination of date in degrees (default: the zenith of the first "
                 "sample)");
  command.option("--feeds", options->feeds, "OUT.uvfits: polarizations are linear (X, Y) or circular (R, L)")
      .one_of({"linear", "circular"})
      .shows_default();
  command.option("--scale", options->scale, "--arithmetic float16, int8: factor for the spectra before rounding")
      .shows_default();
}

}  // namespace

void add_channelize(Command& program) {
  Command& command = program.subcommand(
      "channelize", "Polyphase filter banks over files and pipes, correlation, filter design, test signals, synthesis");
  command.may_have_subcommand();
  command.footer(
      "\nExamples:\n"
      "  ridge channelize in.raw out.npy --channels 256 --taps 16 --samples i8 --stations 16\n"
      "  ridge channelize guppi.0000.raw out.fil --channels 64 --times 128      power, headers read and written\n"
      "  receiver | ridge channelize - - --channels 1024 --oversample 8/7 --rate 200e6 | correlator\n"
      "  ridge channelize obs.dada - --channels 1024 --times 16 --output-format fil | ridge search - --out found.json\n"
      "  ridge channelize in.raw rest.raw --from-sample 1048576                 continues exactly where a run ended\n"
      "  ridge channelize in.raw vis.npy --stations 16 --correlate --times 768  every pair of stations, integrated\n"
      "  ridge channelize in.raw vis.uvfits --stations 16 --correlate --times 768 --positions xyz.npy --site "
      "6.87,52.91 \\\n"
      "    --rate 195312.5 --frequency 150 --start 2025-03-01T12:00:00          visibilities for imaging\n"
      "  ridge channelize in.raw out.npy --stations 4 --delays delays.txt --rate 195312.5 --frequency 150\n"
      "  ridge channelize - out.raw --detect stokes --times 763 --resume        continues after the data in out.raw\n"
      "  mpirun -n 8 ridge channelize 'sb{}.raw' 'sb{}.out' --subbands 0-31 --stations 48\n"
      "  ridge channelize signal in.raw --stations 16 --seconds 10              a test signal\n"
      "  ridge channelize design response.svg --channels 256 --taps 16\n"
      "  ridge channelize synthesize channels.npy back.raw --oversample 8/7      samples from channels\n"
      "\nInput: GUPPI RAW, PSRDADA, VDIF (named .vdif or --format vdif), .npy, or raw complex samples in the order\n"
      "block of --block samples (default: channels), station, sample, polarization.\n"
      "Output: complex float in the order time, polarization, station, channel (.npy or raw; .dada: time, frequency,\n"
      "polarization); with --order channel: block of --output-times, channel, station, polarization, time. Or power:\n"
      ".fil, or --detect. Or correlations: integration, baseline j(j+1)/2+i, channel, polarization of i and of j.\n"
      "Lost packets are replaced by zeros and counted; --flags lists the affected spectra. Memory use is bounded for\n"
      "any length of the input.");
  auto options = std::make_shared<ChannelizeOptions>();
  command.option("IN", options->in, "A file, or - for standard input").reads();
  command.option("OUT", options->out, "A .fil, .dada or .npy file, otherwise raw; - for standard output").writes();
  add_prototype_options(command, options->prototype);
  command.option("--oversample", options->oversample, "Oversampling ratio, as in 8/7").shows_default();
  const GivenOptions given = add_input_options(command, options);
  add_output_options(command, options);
  command.option("--subbands", options->subbands, "Values substituted for {} in IN and OUT").value_name("0-7,...");
  command.flag("--resume", options->resume, "Continue after the last complete spectrum in OUT (raw)");
  command.option("--first-sample", options->first_sample, "Number of the input's first sample, for a pipe opened late");
  command.flag("--digest", options->digest, "Print a checksum of all channels, to compare runs");
  command.option("--from-sample", options->from_sample,
                 "Index of the first sample of each station; results are as if earlier samples had been processed");
  command
      .option("--flags", options->flags,
              "Write the numbers of spectra with lost samples to FILE; FILE.fil: a mask for ridge search; --correlate, "
              "FILE.npy: the number of spectra in each integration")
      .writes();
  add_schedule_option(command, options->schedule);
  command.option("--device", options->device, "Device; several, separated by commas, divide the stations")
      .shows_default();
  command.option("--variant", options->variant, "Use only this variant (ridge bench filterbank shows them)");
  command.threads(options->threads);
  command.bytes("--memory", options->memory,
                "Memory limit for samples and spectra (default 64M; at least one spectrum)");
  command.flag("--measure", options->measure, "Time the best candidates first and save the winner");
  command.flag("--quiet", options->quiet, "Do not print the final report");
  add_design(command);
  add_channelize_signal(command);
  add_channelize_synthesis(command);
  command.runs([&command, options, given] {
    if (command.has_subcommand()) return;
    if (options->in.empty() || options->out.empty()) {
      throw Error(ErrorKind::invalid_argument,
                  "ridge channelize needs IN and OUT, or design, signal or synthesize (see ridge channelize --help)");
    }
    options->stations_given = given.stations.given();
    options->polarizations_given = given.polarizations.given();
    options->frequency_given = given.frequency.given();
    with_processes([&](const mpi::Communicator& processes) { channelize(*options, processes); });
  });
}

}  // namespace ridge::cli
