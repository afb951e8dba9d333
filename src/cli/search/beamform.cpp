// ridge beamform: beams of the voltages of many stations in .npy files.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstring>
#include <limits>
#include <memory>

#include <fmt/format.h>
#include <ridge/search/beams.hpp>

#include "base/clock.hpp"
#include "base/text.hpp"
#include "cli/arrays/npy_file.hpp"
#include "cli/search/power_file.hpp"
#include "command/command.hpp"
#include "io/arrays/npy.hpp"

namespace ridge::cli {
namespace {

using Value = std::complex<float>;

struct BeamOptions {
  std::string in, out, weights, positions, directions, device, flags, shares;
  std::string arithmetic = "float32";
  search::BeamProblem problem{};
  double frequency = 0, step = 0, scale = 0;
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

// The numbers of a file as complex float: complex64 and complex128; real types have no imaginary part.
std::vector<Value> read_complex(io::InputStream& in, const io::NpyHeader& header) {
  std::vector<std::byte> bytes;
  in.read_growing(bytes, header.elements() * io::bytes_of(header.type));
  std::vector<Value> values(bytes.size() / io::bytes_of(header.type));
  if (io::is_complex(header.type)) {
    convert_numbers(header.type, bytes.data(), 2 * values.size(), reinterpret_cast<float*>(values.data()));
  } else {
    std::vector<float> real(values.size());
    convert_numbers(header.type, bytes.data(), real.size(), real.data());
    std::copy(real.begin(), real.end(), values.begin());
  }
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
  io::InputStream in(options.weights);
  const io::NpyHeader header = io::read_npy_header(in);
  const std::vector<std::size_t>& shape = header.shape;
  std::vector<Value> weights = read_complex(in, header);
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

// The voltages of a file: complex64, or pairs of bytes.
struct Voltages {
  std::vector<std::size_t> shape;  // channels, times, stations
  std::vector<Value> values;
  std::vector<std::int8_t> bytes;  // if `values` is empty

  std::size_t size() const { return shape[0] * shape[1] * shape[2]; }
  bool is_nan(std::size_t i) const {
    return !values.empty() && (std::isnan(values[i].real()) || std::isnan(values[i].imag()));
  }
  void clear(std::size_t i) {
    if (values.empty()) {
      bytes[2 * i] = bytes[2 * i + 1] = 0;
    } else {
      values[i] = 0;
    }
  }
};

Voltages read_voltages(const std::string& name) {
  io::InputStream in(name);
  const io::NpyHeader header = io::read_npy_header(in);
  const std::size_t axes = header.shape.size();
  const bool bytes = header.type == io::ElementType::int8 && axes == 4 && header.shape[3] == 2;
  if (!bytes && (!io::is_complex(header.type) || axes != 3)) {
    mistake(
        fmt::format("{}: needs complex numbers of the shape (channels, times, stations) or int8 of (channels, times, "
                    "stations, 2), got {} of {} axes",
                    name, io::name_of(header.type), axes));
  }
  Voltages read{.shape = {header.shape.begin(), header.shape.begin() + 3}, .values = {}, .bytes = {}};
  if (!bytes) {
    read.values = read_complex(in, header);
    return read;
  }
  std::vector<std::byte> raw;
  in.read_growing(raw, header.elements());
  read.bytes.resize(raw.size());
  std::memcpy(read.bytes.data(), raw.data(), raw.size());
  return read;
}

// Sets flagged voltages, and those that are NaN, to zero. Returns the share of the others per channel and `integrate`
// times.
std::vector<float> clear_flagged(const BeamOptions& options, Voltages& in) {
  const std::vector<std::size_t>& shape = in.shape;
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
    if (flagged || in.is_nan(i)) {
      in.clear(i);
    } else if (time % times < bins * each) {
      shares[time / times * bins + time % times / each] += 1.0F / static_cast<float>(each * stations);
    }
  }
  return shares;
}

// Sets the arithmetic and the scale. The default scale makes the root mean square of the voltages 24, of 127 levels, or
// 1 for float16. Converts bytes unless the arithmetic is of bytes, too.
void choose_arithmetic(BeamOptions& options, Voltages& in) {
  search::BeamProblem& problem = options.problem;
  problem.arithmetic = options.arithmetic == "int8"      ? search::BeamArithmetic::int8
                       : options.arithmetic == "float16" ? search::BeamArithmetic::float16
                                                         : search::BeamArithmetic::float32;
  const bool rounds = problem.arithmetic != search::BeamArithmetic::float32;
  if (options.scale != 0 && (!rounds || in.values.empty()))
    mistake("--scale needs complex voltages and --arithmetic float16 or int8");
  if (in.values.empty() && problem.arithmetic != search::BeamArithmetic::int8) {
    in.values.resize(in.size());
    for (std::size_t i = 0; i < in.values.size(); ++i)
      in.values[i] = {static_cast<float>(in.bytes[2 * i]), static_cast<float>(in.bytes[2 * i + 1])};
    return;
  }
  if (!rounds || in.values.empty()) return;
  problem.scale = static_cast<float>(options.scale);
  if (options.scale != 0) return;
  double squares = 0;
  std::size_t count = 0;
  for (const Value& value : in.values) {
    const double power = std::norm(std::complex<double>(value));
    if (!std::isfinite(power) || power == 0) continue;
    squares += power, count += 2;
  }
  const double level = problem.arithmetic == search::BeamArithmetic::int8 ? 24 : 1;
  problem.scale = count == 0 ? 1 : static_cast<float>(level / std::sqrt(squares / static_cast<double>(count)));
  if (!std::isnormal(problem.scale)) mistake("beamform: the voltages are too small or too large to round: use --scale");
}

// "int8: voltages times 24, 3 of 4096 parts limited to 127".
std::string describe_rounding(const BeamOptions& options, const Voltages& in) {
  if (options.arithmetic == "float32" || in.values.empty()) return "";
  const float most = options.arithmetic == "int8" ? 127.5F : 65520.0F;
  std::size_t limited = 0;
  for (const Value& value : in.values) {
    for (const float part : {value.real(), value.imag()}) limited += std::abs(part * options.problem.scale) >= most;
  }
  return fmt::format("{}: voltages times {:.6g}, {} of {} parts limited\n", options.arithmetic, options.problem.scale,
                     limited, 2 * in.values.size());
}

// Writes the powers and returns the seconds that they took.
double form_power(const BeamOptions& options, const search::Beamformer& former, const Voltages& in,
                  const std::vector<float>& shares) {
  std::vector<float> power(options.problem.channels * former.rows() * former.bins());
  const double begin = base::now();
  if (in.values.empty()) {
    former.power(in.bytes, power);
  } else {
    former.power(in.values, power);
  }
  const double seconds = base::now() - begin;
  // A power to which no voltage contributes is NaN, which a search takes as flagged.
  for (std::size_t i = 0; i < shares.size(); ++i) {
    if (shares[i] != 0) continue;
    float* first = power.data() + (i / former.bins() * former.rows()) * former.bins() + i % former.bins();
    for (std::size_t row = 0; row < former.rows(); ++row)
      first[row * former.bins()] = std::numeric_limits<float>::quiet_NaN();
  }
  write_npy(options.out,
            {.type = io::ElementType::float32, .shape = {options.problem.channels, former.rows(), former.bins()}},
            power.data());
  return seconds;
}

double form_voltages(const BeamOptions& options, const search::Beamformer& former, const Voltages& in) {
  const search::BeamProblem& problem = options.problem;
  std::vector<Value> voltages(problem.channels * problem.beams * problem.times);
  const double begin = base::now();
  former.voltages(in.values, voltages);
  const double seconds = base::now() - begin;
  write_npy(options.out,
            {.type = io::ElementType::complex64, .shape = {problem.channels, problem.beams, problem.times}},
            voltages.data());
  return seconds;
}

void run_beamform(BeamOptions options) {
  Voltages in = read_voltages(options.in);
  search::BeamProblem& problem = options.problem;
  problem.channels = in.shape[0], problem.times = in.shape[1], problem.stations = in.shape[2];
  const std::vector<float> shares = clear_flagged(options, in);
  choose_arithmetic(options, in);
  const std::vector<Value> weights = all_weights(options, problem.channels, problem.stations, problem.beams);
  search::Beamformer former(ridge::device(options.device), problem);
  former.set_weights(weights);
  const double seconds =
      options.voltages ? form_voltages(options, former, in) : form_power(options, former, in, shares);
  if (!options.shares.empty())
    write_npy(options.shares, {.type = io::ElementType::float32, .shape = {problem.channels, former.bins()}},
              shares.data());
  if (options.out == "-") return;
  fmt::print("{}{} beams of {} stations, {} channels x {} times: {}\n", describe_rounding(options, in), former.rows(),
             problem.stations, problem.channels, problem.times, base::human_rate(former.flops() / seconds, "FLOP/s"));
}

}  // namespace

void add_beamform(Command& program) {
  Command& command = program.subcommand("beamform", "Form beams from the voltages of many stations");
  command.footer(
      "\nExamples:\n"
      "  ridge beamform stations.npy power.npy --weights w.npy --integrate 16 --incoherent\n"
      "  ridge beamform stations.npy power.npy --positions xyz.npy --directions lmn.npy --frequency 1400 --step -0.1\n"
      "  ridge beamform bytes.npy power.npy --weights w.npy --arithmetic int8 --integrate 16 --device cuda:0\n"
      "\nVoltages are complex, (channels, times, stations), or int8, (channels, times, stations, 2). Weights are "
      "complex\n"
      "or real, (beams, stations) or (channels, beams, stations). Positions are metres, (stations, 3);\n"
      "directions unit vectors, (beams, 3). The output is float32, (channels, beams, times / integrate). Flagged\n"
      "voltages and NaN are left out of the sums; a power to which no voltage contributes is NaN.\n"
      "\n--arithmetic int8 and float16 round voltages and weights, and a device multiplies them on its matrix units.");
  auto options = std::make_shared<BeamOptions>();
  command.option("in", options->in, "Voltages, .npy: (channels, times, stations)").required().reads();
  command.option("out", options->out, "Output, .npy: (channels, beams, times / integrate)")
      .required()
      .writes()
      .ends_in({".npy"});
  const Option weights =
      command.option("--weights", options->weights, "Weights, .npy: (beams, stations) or (channels, beams, stations)")
          .reads();
  const Option positions =
      command.option("--positions", options->positions, "Positions of the stations in metres, .npy: (stations, 3)")
          .reads();
  command.option("--directions", options->directions, "Directions of the beams, .npy: unit vectors, (beams, 3)")
      .reads();
  positions.not_with(weights);
  command.option("--frequency", options->frequency, "Frequency of the first channel, MHz").between(1e-3, 1e7);
  command.option("--step", options->step, "Step to the next channel, MHz").shows_default();
  command.option("--integrate", options->problem.integrate, "Samples per power").shows_default().between(1, 1e9);
  command
      .option(
          "--arithmetic", options->arithmetic,
          "Number type of voltages and weights; float16 and int8: rounded, and multiplied on a device's matrix units")
      .shows_default()
      .one_of({"float32", "float16", "int8"});
  command
      .option("--scale", options->scale,
              "float16, int8: multiplies complex voltages before they are rounded (default: their root mean square "
              "becomes 1 for float16, 24 for int8)")
      .positive();
  command.option("--flags", options->flags, "Flags, uint8 .npy: (channels, times) or (channels, times, stations)")
      .reads();
  command.option("--shares", options->shares, "Write the fraction of unflagged voltages in every power, .npy").writes();
  const Option incoherent = command.flag("--incoherent", options->problem.incoherent, "Add the incoherent beam, last");
  command.flag("--voltages", options->voltages, "Write complex voltages instead of power (host)").not_with(incoherent);
  command.device(options->device);
  command.threads(options->problem.threads);
  command.runs([options] { run_beamform(*options); });
}

}  // namespace ridge::cli
