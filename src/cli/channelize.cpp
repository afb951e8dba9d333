// ridge channelize: filter banks over files and pipes.
#include <memory>

#include <fmt/format.h>

#include "base/files.hpp"
#include "cli/byte_option.hpp"
#include "cli/channelize_files.hpp"
#include "cli/channelize_signal.hpp"
#include "cli/channelize_synthesis.hpp"
#include "cli/command.hpp"
#include "cli/with_processes.hpp"
#include "filterbank/measure.hpp"
#include "filterbank/response_svg.hpp"

namespace ridge::cli {

void add_prototype_options(CLI::App& command, PrototypeWishes& wishes) {
  command.add_option("--channels", wishes.channels, "Channels, any number")->capture_default_str();
  command.add_option("--taps", wishes.taps, "Taps of each channel's filter")->capture_default_str();
  command.add_option("--window", wishes.window, "kaiser, hamming, blackman or gaussian, over a sinc")
      ->check(CLI::IsMember({"kaiser", "hamming", "blackman", "gaussian"}))
      ->capture_default_str();
  command.add_option("--shape", wishes.shape, "kaiser: beta (default 10.61); gaussian: sigma in half lengths (0.22)");
  command.add_option("--width", wishes.width, "Of a channel at -6 dB, in channels")->capture_default_str();
  command.add_option("--weights", wishes.weights, "A prototype of channels x taps numbers: .npy, or raw float64")
      ->type_name("FILE");
}

namespace {

// Through the bank itself: tones beside the centres, and noise there and back at every ratio.
void measure_design(const PrototypeWishes& wishes, const std::vector<double>& h) {
  constexpr int kSteps = 32;
  double worst = -1000, at = 0;
  for (int i = -kSteps / 2; i <= kSteps / 2; ++i) {
    const double off = static_cast<double>(i) / kSteps;
    const double leak = filterbank::leakage_of_tone_db(host(), h, wishes.channels, off);
    if (leak > worst) worst = leak, at = off;
  }
  fmt::print("measured with {} tones: {:.1f} dB beyond 1.5 channels (the worst {:+.3f} channels off a centre)\n",
             kSteps + 1, worst, at);
  fmt::print("noise there and back, the synthesis filter 1.5 times as long as the prototype:\n");
  for (const filterbank::Ratio& ratio : filterbank::oversampling_ratios(wishes.channels)) {
    fmt::print("  {:>2}/{:<2}  {:7.1f} dB\n", ratio.numerator, ratio.denominator,
               filterbank::reconstruction_db(host(), h, wishes.channels, ratio));
  }
  fmt::print(
      "  critical sampling {:.1f} dB, 6 times as long {:.1f} dB: channels alias at their edges and no filter "
      "undoes it\n",
      filterbank::reconstruction_db(host(), h, wishes.channels, {1, 1}),
      filterbank::reconstruction_db(host(), h, wishes.channels, {1, 1}, 6));
}

void add_design(CLI::App& channelize) {
  auto* command = channelize.add_subcommand("design", "The prototype's response as SVG, with leakage and ripple in dB");
  command->footer(
      "\nExamples:\n"
      "  ridge channelize design response.svg --channels 256 --taps 16\n"
      "  ridge channelize design - --window hamming                 the figures alone\n"
      "  ridge channelize design - --channels 64 --measure          through the bank: tones, and noise there and back");
  auto wishes = std::make_shared<PrototypeWishes>();
  auto out = std::make_shared<std::string>();
  auto shown = std::make_shared<double>(4);
  auto save = std::make_shared<std::string>();
  command->add_option("OUT", *out, "The SVG file; - for none")->required();
  add_prototype_options(*command, *wishes);
  command->add_option("--show", *shown, "Channels to either side")->capture_default_str()->check(CLI::Range(0.5, 64.0));
  command->add_option("--save", *save, "Write the prototype as raw float64, for --weights")->type_name("FILE");
  auto measure = std::make_shared<bool>(false);
  command->add_flag("--measure", *measure, "Leakage and reconstruction through the bank, at every ratio from 8/7 up");
  command->callback([wishes, out, shown, save, measure] {
    const std::vector<double> h = prototype_for(*wishes);
    const filterbank::Quality quality = filterbank::quality(h, wishes->channels);
    fmt::print(
        "{} channels x {} taps: leakage {:.1f} dB beyond {:g} channels, edge {:.2f} dB, ripple {:.4f} dB within a "
        "quarter\n",
        wishes->channels, wishes->taps, quality.leakage_db, quality.beyond, quality.edge_db, quality.ripple_db);
    if (*measure) measure_design(*wishes, h);
    if (!save->empty()) {
      base::write_file(*save, {reinterpret_cast<const char*>(h.data()), h.size() * sizeof(double)});
    }
    if (*out != "-") base::write_file(*out, filterbank::response_svg(h, wishes->channels, quality, *shown));
  });
}

}  // namespace

void add_channelize(CLI::App& program) {
  auto* command = program.add_subcommand(
      "channelize", "Polyphase filter banks over files and pipes; correlation, design, signals, back again");
  command->require_subcommand(0, 1);
  command->footer(
      "\nExamples:\n"
      "  ridge channelize in.raw out.npy --channels 256 --taps 16 --samples i8 --stations 16\n"
      "  ridge channelize guppi.0000.raw out.fil --channels 64 --times 128      power, headers read and written\n"
      "  receiver | ridge channelize - - --channels 1024 --oversample 8/7 --rate 200e6 | correlator\n"
      "  ridge channelize in.raw rest.raw --from-sample 1048576                 goes on exactly where a run ended\n"
      "  ridge channelize in.raw vis.npy --stations 16 --correlate --times 768  every pair of stations, integrated\n"
      "  ridge channelize in.raw out.npy --stations 4 --delays delays.txt --rate 195312.5 --frequency 150\n"
      "  ridge channelize - out.raw --detect stokes --times 763 --resume        goes on behind what out.raw holds\n"
      "  mpirun -n 8 ridge channelize 'sb{}.raw' 'sb{}.out' --subbands 0-31 --stations 48\n"
      "  ridge channelize signal in.raw --stations 16 --seconds 10              something to try it on\n"
      "  ridge channelize design response.svg --channels 256 --taps 16\n"
      "  ridge channelize synthesize channels.npy back.raw --oversample 8/7      channels back to samples\n"
      "\nInput: GUPPI RAW, PSRDADA, VDIF (named .vdif or --format vdif), .npy, or raw complex samples: blocks of "
      "--block\n"
      "samples (default: channels), station, sample, polarization. Output: time, polarization, station, channel as "
      "complex\n"
      "float (.npy or raw; .dada: time, frequency, polarization); with --order channel: block of --output-times, "
      "channel, station, polarization, time. Or "
      "power:\n.fil, or --detect; or correlations: integration, baseline j(j+1)/2+i, channel, polarization of i and of "
      "j. Lost packets become zeros, are counted, and --flags lists "
      "the\n"
      "spectra they touch. Memory stays bounded however long the input is.");
  auto wishes = std::make_shared<ChannelizeWishes>();
  command->add_option("IN", wishes->in, "A file, or - for standard input");
  command->add_option("OUT", wishes->out, ".fil, .dada, .npy, else raw; - for standard output");
  add_prototype_options(*command, wishes->prototype);
  command->add_option("--oversample", wishes->oversample, "A ratio like 8/7")->capture_default_str();
  command->add_option("--format", wishes->format, "auto, raw, npy, guppi, dada or vdif")
      ->check(CLI::IsMember({"auto", "raw", "npy", "guppi", "dada", "vdif"}))
      ->capture_default_str();
  auto* stations = command->add_option("--stations", wishes->stations, "Raw input; of .npy what its shape says")
                       ->capture_default_str();
  auto* polarizations =
      command->add_option("--polarizations", wishes->polarizations, "Raw, one-axis .npy and VDIF input: 1 or 2");
  polarizations->capture_default_str();
  command->add_option("--samples", wishes->samples, "Raw input: i4, i8, i16 or f32, complex")
      ->check(CLI::IsMember({"i4", "i8", "i16", "f32"}))
      ->capture_default_str();
  command->add_option("--block", wishes->block,
                      "Raw input: samples of a station that lie together (default: channels)");
  command->add_flag("--centred", wishes->centred, "Channel 0 is the lowest frequency (even channels; .fil always is)");
  command->add_option("--rate", wishes->rate, "Samples a second, for the real-time margin and the headers");
  command->add_option("--frequency", wishes->frequency, "MHz, of the band's middle, for a .fil header");
  command->add_option("--detect", wishes->detect, "Power instead of channels: total, powers or stokes")
      ->check(CLI::IsMember({"total", "powers", "stokes"}));
  command->add_option("--times", wishes->times, "Power and correlation: spectra summed")->capture_default_str();
  command->add_option("--sum-channels", wishes->sum_channels, "Power and correlation: neighbouring channels summed")
      ->capture_default_str();
  command
      ->add_option_function<std::string>(
          "--order", [wishes](const std::string& text) { wishes->by_channel = text == "channel"; },
          "Of the output: time or channel")
      ->check(CLI::IsMember({"time", "channel"}));
  command->add_option("--output-times", wishes->output_times, "Order channel: times that lie together")
      ->capture_default_str();
  command
      ->add_option("--bandpass", wishes->bandpass, "Factors, one a channel or one a (polarization, station, channel)")
      ->type_name("FILE");
  command
      ->add_option("--delays", wishes->delays,
                   "Undo delays: lines of a sample number and a delay in samples for each (polarization, station), "
                   "linear between them")
      ->type_name("FILE");
  command
      ->add_option("--replace-weights", wishes->replacements,
                   "Another prototype (as --weights) from the first spectrum whose newest sample has this number or a "
                   "later one; several, in order")
      ->type_name("SAMPLE:FILE");
  command->add_flag("--correlate", wishes->correlate, "Every pair of stations, over --times spectra");
  command->add_option("--subbands", wishes->subbands, "Numbers that stand for {} in IN and OUT")->type_name("0-7,...");
  command->add_flag("--resume", wishes->resume, "Go on behind the last whole time that OUT (raw) holds");
  command->add_option("--first-sample", wishes->first_sample,
                      "Number of the input's first sample, of a pipe opened late");
  command->add_flag("--digest", wishes->digest, "Print a sum of all channels, to compare runs");
  command->add_option("--from-sample", wishes->from_sample,
                      "Begin at this sample of each station, as if all before had gone through");
  command->add_option("--flags", wishes->flags, "Write the numbers of spectra with lost samples")->type_name("FILE");
  command->add_option("--device", wishes->device, "Where to run; several with commas share the stations")
      ->capture_default_str();
  command->add_option("--variant", wishes->variant, "Only this variant (ridge bench filterbank shows them)");
  command->add_option("--threads", wishes->threads, "0: all")->capture_default_str();
  add_byte_option(*command, "--memory", wishes->memory,
                  "Samples and spectra held at a time (default 64M; one spectrum at least)");
  command->add_flag("--measure", wishes->measure, "Time the best candidates first, and remember the winner");
  command->add_flag("--quiet", wishes->quiet, "No line at the end");
  add_design(*command);
  add_channelize_signal(*command);
  add_channelize_synthesis(*command);
  command->callback([command, wishes, stations, polarizations] {
    if (!command->get_subcommands().empty()) return;
    if (wishes->in.empty() || wishes->out.empty()) {
      throw Error(ErrorKind::invalid_argument,
                  "ridge channelize wants IN and OUT, design, signal or synthesize (see ridge channelize --help)");
    }
    wishes->stations_given = stations->count() > 0;
    wishes->polarizations_given = polarizations->count() > 0;
    with_processes([&](const mpi::Processes& processes) { channelize(*wishes, processes); });
  });
}

}  // namespace ridge::cli
