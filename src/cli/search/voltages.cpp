// ridge dedisperse and ridge beamform: complex voltages in .npy files.
#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <ridge/search/beams.hpp>
#include <ridge/search/coherent.hpp>

#include "base/clock.hpp"
#include "base/log.hpp"
#include "base/text.hpp"
#include "cli/arrays/npy_file.hpp"
#include "cli/search/power_file.hpp"
#include "command/command.hpp"
#include "io/arrays/npy.hpp"
#include "io/telescopes/header_fields.hpp"

namespace ridge::cli {
namespace {

using Value = std::complex<float>;

struct CoherentOptions {
  std::string in, out, device;
  search::CoherentProblem problem{};
  bool explain = false;
};

// Dedisperses in pieces, each with the samples before and after it that the filter needs.
void run_coherent(const CoherentOptions& options) {
  io::InputStream in(options.in);
  const bool npy = io::looks_like_npy(in.peek(6));
  io::NpyHeader header{.type = io::ElementType::complex64, .shape = {0}};
  if (npy) {
    header = io::read_npy_header(in);
  } else {
    io::refuse_foreign(in);
  }
  if (header.type != io::ElementType::complex64 || header.shape.size() != 1)
    mistake(fmt::format("{}: needs one axis of complex64, got {} axes of {}", options.in, header.shape.size(),
                        io::name_of(header.type)));
  const search::CoherentPlan plan(ridge::device(options.device), options.problem);
  if (options.explain) fmt::print("{}\n", plan.explain());
  io::OutputStream out(options.out);
  if (npy) {
    const std::string text = io::npy_header(header);
    out.write(text.data(), text.size());
  }
  const std::size_t before = plan.before(), after = plan.after();
  const std::size_t piece = std::max<std::size_t>(std::size_t{1} << 20, 16 * plan.length());
  std::vector<Value> window, result;
  std::vector<std::byte> bytes;
  std::size_t done = 0;  // samples at the front of the window that were written before
  std::uint64_t total = 0;
  const double begin = base::now();
  const io::ReadProgress progress(in, "dedispersing");
  for (bool end = false; !end; progress.show()) {
    const std::size_t got = in.read_growing(bytes, piece * sizeof(Value)) / sizeof(Value);
    if (const std::size_t rest = bytes.size() % sizeof(Value); rest != 0)
      throw Error(ErrorKind::io, fmt::format("{} ends {} bytes into a sample of {}", in.name(), rest, sizeof(Value)));
    end = got < piece;
    const auto* values = reinterpret_cast<const Value*>(bytes.data());
    window.insert(window.end(), values, values + got);
    total += got;
    const std::size_t ready = end ? window.size() : window.size() - std::min(window.size(), after);
    if (ready <= done && !end) continue;
    result.resize(window.size());
    plan.run(window, result);
    out.write(result.data() + done, (ready - done) * sizeof(Value));
    const std::size_t dropped = ready > before ? ready - before : 0;
    window.erase(window.begin(), window.begin() + static_cast<std::ptrdiff_t>(dropped));
    done = ready - dropped;
  }
  if (total == 0) throw Error(ErrorKind::io, options.in + ": contains no samples");
  out.finish();
  base::clear_progress();
  if (options.out == "-") return;
  fmt::print("{} samples, transforms of {} points with {} of overlap: {}\n", total, plan.length(), before + after,
             base::human_rate(static_cast<double>(total) / (base::now() - begin), "sample/s"));
}

struct BeamOptions {
  std::string in, out, weights, positions, directions, device, flags, shares;
  search::BeamProblem problem{};
  double frequency = 0, step = 0;
  bool voltages = false;
};

template <class T>
std::vector<T> read_array(const std::string& name, io::ElementType type, std::vector<std::size_t>& shape) {
  io::InputStream in(name);
  const io::NpyHeader header = io::read_npy_header(in);
  if (header.type != type)
    mistake(fmt::format("{}: needs {}, got {}", name, io::name_of(type), io::name_of(header.type)));
  shape = header.shape;
  std::vector<std::byte> bytes;
  in.read_growing(bytes, header.elements() * sizeof(T));
  std::vector<T> values(bytes.size() / sizeof(T));
  std::copy_n(bytes.data(), values.size() * sizeof(T), reinterpret_cast<std::byte*>(values.data()));
  return values;
}

// Weights of a file, repeated for every channel if it has those of one, or from positions and directions.
std::vector<Value> all_weights(const BeamOptions& options, std::size_t channels, std::size_t stations,
                               std::size_t& beams) {
  if (options.weights.empty()) {
    if (options.positions.empty() || options.directions.empty() || !(options.frequency > 0))
      mistake("beamform: needs --weights FILE, or --positions, --directions and --frequency");
    const auto positions = io::read_npy_vectors(options.positions),
               directions = io::read_npy_vectors(options.directions);
    if (positions.size() != stations)
      mistake(fmt::format("{}: {} positions for {} stations", options.positions, positions.size(), stations));
    std::vector<double> mhz;
    for (std::size_t c = 0; c < channels; ++c) mhz.push_back(options.frequency + options.step * static_cast<double>(c));
    beams = directions.size();
    return search::beam_weights(positions, directions, mhz);
  }
  std::vector<std::size_t> shape;
  std::vector<Value> weights = read_array<Value>(options.weights, io::ElementType::complex64, shape);
  const bool single = shape.size() == 2;
  if ((!single && shape.size() != 3) || shape.back() != stations || (!single && shape[0] != channels)) {
    mistake(fmt::format("{}: needs the shape (beams, {}) or ({}, beams, {}), got {} axes and {} stations",
                        options.weights, stations, channels, stations, shape.size(), shape.empty() ? 0 : shape.back()));
  }
  for (const Value& weight : weights) {
    if (!std::isfinite(std::abs(weight)))
      mistake(fmt::format("{}: holds a weight that is not finite", options.weights));
  }
  beams = shape[shape.size() - 2];
  const std::vector<Value> one = weights;
  for (std::size_t c = 1; c < channels && single; ++c) weights.insert(weights.end(), one.begin(), one.end());
  return weights;
}

// Sets flagged voltages, and those that are NaN, to zero. Returns the share of the others per channel and `integrate`
// times.
std::vector<float> clear_flagged(const BeamOptions& options, const std::vector<std::size_t>& shape,
                                 std::vector<Value>& in) {
  const std::size_t times = shape[1], stations = shape[2], each = options.problem.integrate, bins = times / each;
  std::vector<std::uint8_t> flags;
  std::vector<std::size_t> flag_shape;
  if (!options.flags.empty()) flags = read_array<std::uint8_t>(options.flags, io::ElementType::uint8, flag_shape);
  const bool per_station = flag_shape.size() == 3;
  const bool fits =
      per_station ? flag_shape == shape : flag_shape.size() == 2 && flag_shape[0] == shape[0] && flag_shape[1] == times;
  if (!options.flags.empty() && !fits) {
    mistake(fmt::format("{}: needs uint8 of the shape ({}, {}) or ({}, {}, {}), got {} axes", options.flags, shape[0],
                        times, shape[0], times, stations, flag_shape.size()));
  }
  std::vector<float> shares(shape[0] * bins, 0);
  for (std::size_t i = 0; i < in.size(); ++i) {
    const std::size_t time = i / stations;  // of all channels
    const bool flagged = !flags.empty() && flags[per_station ? i : time] != 0;
    if (flagged || std::isnan(in[i].real()) || std::isnan(in[i].imag())) {
      in[i] = 0;
    } else if (time % times < bins * each) {
      shares[time / times * bins + time % times / each] += 1.0F / static_cast<float>(each * stations);
    }
  }
  return shares;
}

void run_beamform(BeamOptions options) {
  std::vector<std::size_t> shape;
  std::vector<Value> in = read_array<Value>(options.in, io::ElementType::complex64, shape);
  if (shape.size() != 3)
    mistake(fmt::format("{}: needs the shape (channels, times, stations), got {} axes", options.in, shape.size()));
  search::BeamProblem& problem = options.problem;
  problem.channels = shape[0], problem.times = shape[1], problem.stations = shape[2];
  const std::vector<float> shares = clear_flagged(options, shape, in);
  const std::vector<Value> weights = all_weights(options, shape[0], shape[2], problem.beams);
  search::Beamformer former(ridge::device(options.device), problem);
  former.set_weights(weights);
  const double begin = base::now();
  std::vector<Value> voltages;
  std::vector<float> power;
  if (options.voltages) {
    voltages.resize(problem.channels * problem.beams * problem.times);
    former.voltages(in, voltages);
  } else {
    power.resize(problem.channels * former.rows() * former.bins());
    former.power(in, power);
  }
  const double seconds = base::now() - begin;
  // A power to which no voltage contributes is NaN, which a search takes as flagged.
  for (std::size_t i = 0; i < power.size(); ++i) {
    const std::size_t bin = i % former.bins(), channel = i / former.bins() / former.rows();
    if (shares[channel * former.bins() + bin] == 0) power[i] = std::numeric_limits<float>::quiet_NaN();
  }
  if (options.voltages) {
    write_npy(options.out,
              {.type = io::ElementType::complex64, .shape = {problem.channels, problem.beams, problem.times}},
              voltages.data());
  } else {
    write_npy(options.out,
              {.type = io::ElementType::float32, .shape = {problem.channels, former.rows(), former.bins()}},
              power.data());
  }
  if (!options.shares.empty())
    write_npy(options.shares, {.type = io::ElementType::float32, .shape = {problem.channels, former.bins()}},
              shares.data());
  if (options.out == "-") return;
  fmt::print("{} beams of {} stations, {} channels x {} times: {}\n", former.rows(), problem.stations, problem.channels,
             problem.times, base::human_rate(former.flops() / seconds, "FLOP/s"));
}

}  // namespace

void add_dedisperse(Command& program) {
  Command& command = program.subcommand("dedisperse", "Remove the dispersion of complex voltages (coherently)");
  command.footer(
      "\nExamples:\n"
      "  ridge dedisperse voltages.npy out.npy --dm 56.77 --centre 1400 --rate 6.25\n"
      "\nComplex64 samples of one band: a .npy file with one axis, a raw file or a pipe. Overlap-save; delays refer "
      "to\n"
      "the centre of the band. The outer 2 % of the band are attenuated, because the filter jumps at its edges.");
  auto options = std::make_shared<CoherentOptions>();
  search::CoherentProblem& problem = options->problem;
  command.option("in", options->in, "Complex64 samples: .npy, raw, or -").required().reads();
  command.option("out", options->out, "Output in the same form").required().writes();
  command.option("--dm", problem.dm, "Dispersion measure, pc/cm^3").required().between(0, 1e5);
  command.option("--centre", problem.centre_mhz, "Centre of the band, MHz").required().positive();
  command.option("--rate", problem.rate_mhz, "Complex samples per microsecond; negative: an inverted band").required();
  command.option("--length", problem.length, "Points per transform (0: chosen)").shows_default().between(0, 1e9);
  command.option("--taper", problem.taper, "Attenuated part of the band on each side").shows_default().between(0, 0.49);
  command.device(options->device);
  command.threads(problem.threads);
  command.explain(options->explain);
  command.runs([options] { run_coherent(*options); });
}

void add_beamform(Command& program) {
  Command& command = program.subcommand("beamform", "Form beams from the voltages of many stations");
  command.footer(
      "\nExamples:\n"
      "  ridge beamform stations.npy power.npy --weights w.npy --integrate 16 --incoherent\n"
      "  ridge beamform stations.npy power.npy --positions xyz.npy --directions lmn.npy --frequency 1400 --step -0.1\n"
      "\nVoltages are complex64, (channels, times, stations). Weights are complex64, (beams, stations) or (channels,\n"
      "beams, stations). Positions are float64 metres, (stations, 3); directions unit vectors, (beams, 3). The output "
      "is\n"
      "float32, (channels, beams, times / integrate). Flagged voltages and NaN are left out of the sums; a power\n"
      "to which no voltage contributes is NaN.");
  auto options = std::make_shared<BeamOptions>();
  command.option("in", options->in, "Voltages, .npy").required().reads();
  command.option("out", options->out, "Beams, .npy").required().writes();
  const Option weights = command.option("--weights", options->weights, "Weights, .npy").reads();
  const Option positions =
      command.option("--positions", options->positions, "Positions of the stations, .npy, metres").reads();
  command.option("--directions", options->directions, "Directions of the beams, .npy").reads();
  positions.not_with(weights);
  command.option("--frequency", options->frequency, "Frequency of the first channel, MHz").positive();
  command.option("--step", options->step, "Step to the next channel, MHz").shows_default();
  command.option("--integrate", options->problem.integrate, "Samples per power").shows_default().between(1, 1e9);
  command.option("--flags", options->flags, "Flags, uint8 .npy: (channels, times) or (channels, times, stations)")
      .reads();
  command.option("--shares", options->shares, "Write the fraction of unflagged voltages in every power, .npy").writes();
  command.flag("--incoherent", options->problem.incoherent, "Add the incoherent beam, last");
  command.flag("--voltages", options->voltages, "Write complex voltages instead of power (host)");
  command.device(options->device);
  command.threads(options->problem.threads);
  command.runs([options] { run_beamform(*options); });
}

}  // namespace ridge::cli
