// Parses samples' headers, weights, bandpass factors and delays.
#include "cli/channelize/input.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "command/options.hpp"
#include "io/arrays/npy.hpp"
#include "io/telescopes/guppi.hpp"
#include "io/telescopes/header_fields.hpp"
#include "io/telescopes/psrdada.hpp"
#include "io/telescopes/sigproc.hpp"
#include "io/telescopes/vdif.hpp"

namespace ridge::cli {
namespace {

using filterbank::Samples;

io::SampleType sample_type(const std::string& text) {
  if (text == "i4") return io::SampleType::int4;
  if (text == "i8") return io::SampleType::int8;
  if (text == "i16") return io::SampleType::int16;
  return io::SampleType::float32;
}

Samples samples_of(io::SampleType type) {
  switch (type) {
    case io::SampleType::int4:
      return Samples::int4;
    case io::SampleType::int8:
      return Samples::int8;
    case io::SampleType::int16:
      return Samples::int16;
    default:
      return Samples::float32;
  }
}

// Derives the layout from the axes of an array: (time), (time, polarization), (time, station, polarization) or (block,
// station, sample, polarization). The options must agree with it.
void take_axes(const std::vector<std::size_t>& shape, const std::string& name, const ChannelizeOptions& options,
               io::SampleInfo& info) {
  if (shape.empty() || shape.size() > 4) {
    mistake(
        fmt::format("{}: an array of {} axes; needs (time), (time, polarization), (time, station, polarization) or "
                    "(block, station, sample, polarization); integers with a further last axis of 2",
                    name, shape.size()));
  }
  const std::size_t axes = shape.size();
  info.polarizations = axes == 1 ? 1 : shape.back();
  info.streams = axes < 3 ? 1 : shape[1];
  info.block = axes == 4 ? shape[2] : axes == 3 ? 1 : options.block;
  if (axes == 1 && options.polarizations != 1) {
    mistake(fmt::format("{}: two polarizations need an axis of 2 (or give --polarizations 1)", name));
  }
  const auto same = [&](const char* option, bool said, std::size_t wanted, std::size_t there) {
    if (!said || wanted == there) return;
    mistake(fmt::format("{}: {} {} contradicts its shape ({}), which has {}", name, option, wanted,
                        fmt::join(shape, ", "), there));
  };
  same("--stations", options.stations_given, options.stations, info.streams);
  same("--polarizations", options.polarizations_given, options.polarizations, info.polarizations);
  same("--block", options.block != 0, options.block, info.block);
  if (info.polarizations < 1 || info.polarizations > 2 || info.streams == 0 || (axes == 4 && info.block == 0)) {
    mistake(fmt::format(
        "{}: the axes ({}) have {} polarizations of {} stations; needs 1 or 2 polarizations and at least 1 station",
        name, fmt::join(shape, ", "), info.polarizations, info.streams));
  }
}

// Sample format of a .npy file: int8 or int16 with a last axis of 2, or complex64.
io::SampleInfo npy_info(io::InputStream& in, const ChannelizeOptions& options) {
  const io::NpyHeader header = io::read_npy_header(in);
  io::SampleInfo info;
  info.format = ".npy";
  std::vector<std::size_t> shape = header.shape;
  if (header.type == io::ElementType::complex64) {
    info.type = io::SampleType::float32;
  } else if (header.type == io::ElementType::int8 || header.type == io::ElementType::int16) {
    info.type = header.type == io::ElementType::int8 ? io::SampleType::int8 : io::SampleType::int16;
    if (shape.empty() || shape.back() != 2) {
      mistake(fmt::format("{}: integers need a last axis of 2, real and imaginary part", in.name()));
    }
    shape.pop_back();
  } else {
    mistake(fmt::format("{} holds {}; samples must be complex64, int8 or int16", in.name(), io::name_of(header.type)));
  }
  take_axes(shape, in.name(), options, info);
  return info;
}

// Rejects sums over neighbouring channels before the spectrum is in order of frequency: they would join both ends of
// the band.
void check_sums(const ChannelizeOptions& options, filterbank::Problem& problem) {
  if (!writes_format(options, "fil")) return;
  if (problem.channels % 2 == 0) {
    problem.centred = true;
  } else if (options.sum_channels > 1) {
    mistake("--sum-channels needs an even number of channels for a .fil file; write .npy or raw");
  }
}

}  // namespace

std::unique_ptr<io::SampleReader> open_samples(const ChannelizeOptions& options) {
  auto in = std::make_unique<io::InputStream>(options.in);
  if (!options.lost.empty()) in->expect_lost(io::read_lost(options.lost));
  std::string format = options.format;
  const std::string_view start = in->peek(64);
  if (format == "auto") {
    format = io::looks_like_npy(start) || io::has_ending(options.in, ".npy")   ? "npy"
             : io::looks_like_guppi(start)                                     ? "guppi"
             : io::looks_like_psrdada(start)                                   ? "dada"
             : io::looks_like_sigproc(start)                                   ? "fil"
             : io::has_ending(options.in, ".dada")                             ? "dada"
             : io::has_ending(options.in, ".guppi")                            ? "guppi"
             : io::has_ending(options.in, ".vdif") || io::looks_like_vdif(*in) ? "vdif"
                                                                               : "raw";
  }
  if (!options.lost.empty() && format != "raw" && format != "dada")
    mistake(fmt::format("--lost is for raw and PSRDADA input; {} is {}", in->name(), format));
  if (format == "fil") mistake(fmt::format("{} is a SIGPROC file: it holds power, not samples", in->name()));
  if (format == "raw") io::refuse_foreign(*in, options.format == "raw");
  if (format == "guppi") return io::guppi_reader(std::move(in));
  if (format == "dada") return io::psrdada_reader(std::move(in));
  if (format == "vdif")
    return io::vdif_reader(std::move(in), options.polarizations_given ? options.polarizations : 0, options.rate);
  if (format == "npy") {
    const io::SampleInfo info = npy_info(*in, options);
    return io::raw_reader(std::move(in), info);
  }
  io::SampleInfo info;
  info.type = sample_type(options.samples);
  info.streams = options.stations;
  info.polarizations = options.polarizations;
  info.block = options.block;
  return io::raw_reader(std::move(in), info, options.prototype.channels);
}

filterbank::Ratio ratio_for(const std::string& text) {
  filterbank::Ratio ratio;
  const auto slash = text.find('/');
  const auto number = [&](std::string_view part, std::size_t& to) {
    const auto [at, error] = std::from_chars(part.data(), part.data() + part.size(), to);
    if (error != std::errc() || at != part.data() + part.size()) {
      mistake(fmt::format("--oversample {}: needs a ratio as in 8/7 or 2", text));
    }
  };
  number(std::string_view(text).substr(0, slash), ratio.numerator);
  if (slash != std::string::npos) number(std::string_view(text).substr(slash + 1), ratio.denominator);
  return ratio;
}

Replacement replacement_for(const std::string& text, PrototypeOptions options) {
  Replacement replacement;
  const auto colon = text.find(':');
  const auto [at, error] = std::from_chars(text.data(), text.data() + std::min(colon, text.size()), replacement.sample);
  if (colon == std::string::npos || error != std::errc() || at != text.data() + colon || colon + 1 == text.size()) {
    mistake(fmt::format("--replace-weights {}: needs SAMPLE:FILE", text));
  }
  options.weights = text.substr(colon + 1);
  replacement.weights = prototype_for(options);
  return replacement;
}

std::vector<double> prototype_for(const PrototypeOptions& options) {
  constexpr std::size_t kMostWeights = std::size_t{1} << 26;
  if (options.channels * options.taps > kMostWeights) {
    mistake(
        fmt::format("--channels {} x --taps {}: a prototype has at most 2^26 weights", options.channels, options.taps));
  }
  if (options.weights.empty()) {
    const filterbank::Window window = options.window == "hamming"    ? filterbank::Window::hamming
                                      : options.window == "blackman" ? filterbank::Window::blackman
                                      : options.window == "gaussian" ? filterbank::Window::gaussian
                                                                     : filterbank::Window::kaiser;
    return filterbank::design(options.channels, options.taps,
                              {.window = window, .shape = options.shape, .width = options.width});
  }
  io::InputStream in(options.weights);
  std::size_t count = options.channels * options.taps;
  bool narrow = false;
  if (io::looks_like_npy(in.peek(6))) {
    const io::NpyHeader header = io::read_npy_header(in);
    if (header.type != io::ElementType::float64 && header.type != io::ElementType::float32) {
      mistake(fmt::format("{} holds {}; weights must be float32 or float64", in.name(), io::name_of(header.type)));
    }
    narrow = header.type == io::ElementType::float32;
    if (header.elements() != count) {
      mistake(fmt::format("{} holds {} weights; {} channels x {} taps need {}", in.name(), header.elements(),
                          options.channels, options.taps, count));
    }
  }
  std::vector<double> weights(count);
  std::vector<float> floats(narrow ? count : 0);
  const std::size_t bytes = count * (narrow ? 4 : 8);
  if (in.read(narrow ? static_cast<void*>(floats.data()) : static_cast<void*>(weights.data()), bytes) != bytes ||
      !in.peek(1).empty()) {
    throw Error(ErrorKind::io, fmt::format("{} does not hold the {} weights of {} channels x {} taps", in.name(), count,
                                           options.channels, options.taps));
  }
  if (narrow) std::copy(floats.begin(), floats.end(), weights.begin());
  return weights;
}

std::vector<std::complex<float>> read_bandpass(const std::string& name, std::size_t channels, std::size_t all) {
  io::InputStream in(name);
  io::ElementType type = io::ElementType::complex64;
  std::size_t count = 0;
  if (io::looks_like_npy(in.peek(6))) {
    const io::NpyHeader header = io::read_npy_header(in);
    type = header.type;
    count = header.elements();
  } else {
    const auto bytes = in.remaining();
    if (!bytes) mistake(fmt::format("--bandpass {}: needs a regular file", name));
    count = static_cast<std::size_t>(*bytes / sizeof(std::complex<float>));
  }
  if (count != channels && count != all) {
    mistake(fmt::format(
        "--bandpass {}: {} factors; needs {} (one per channel) or {} (one per polarization, station and channel)", name,
        count, channels, all));
  }
  const auto read = [&](auto value) {
    std::vector<decltype(value)> values(count);
    if (in.read(values.data(), count * sizeof value) != count * sizeof value || !in.peek(1).empty()) {
      throw Error(ErrorKind::io, fmt::format("{} does not hold {} factors", name, count));
    }
    std::vector<std::complex<float>> factors(count);
    std::transform(values.begin(), values.end(), factors.begin(),
                   [](auto one) { return static_cast<std::complex<float>>(std::complex<double>(one)); });
    return factors;
  };
  switch (type) {
    case io::ElementType::complex64:
      return read(std::complex<float>());
    case io::ElementType::float32:
      return read(float());
    case io::ElementType::float64:
      return read(double());
    default:
      mistake(fmt::format("--bandpass {} holds {}; factors must be complex64, float32 or float64", name,
                          io::name_of(type)));
  }
}

std::string read_text(const std::string& name) {
  io::InputStream in(name);
  std::string text;
  char block[4096];
  while (const std::size_t got = in.read(block, sizeof block)) text.append(block, got);
  return text;
}

std::vector<DelayPoint> read_delays(const std::string& name, std::size_t each) {
  std::istringstream lines(read_text(name));
  std::vector<DelayPoint> points;
  std::string line;
  for (std::size_t number = 1; std::getline(lines, line); ++number) {
    line.erase(std::find(line.begin(), line.end(), '#'), line.end());
    std::istringstream words(line);
    std::vector<double> values;
    for (std::string word; words >> word;) {
      double value = 0;
      const auto [end, error] = std::from_chars(word.data(), word.data() + word.size(), value);
      if (error != std::errc() || end != word.data() + word.size() || !std::isfinite(value)) {
        mistake(fmt::format("--delays {}: \"{}\" in line {} is not a number", name, word, number));
      }
      values.push_back(value);
    }
    if (values.empty()) continue;
    if (values.size() != each + 1 || values[0] < 0 || values[0] > 9e15 || values[0] != std::floor(values[0])) {
      mistake(fmt::format(
          "--delays {}: line {} holds {} numbers; needs a sample number and {} delays, one per polarization and "
          "station",
          name, number, values.size(), each));
    }
    points.push_back({static_cast<std::uint64_t>(values[0]), {values.begin() + 1, values.end()}});
  }
  if (points.empty()) mistake(fmt::format("--delays {} holds no delays", name));
  return points;
}

filterbank::Problem problem_for(const ChannelizeOptions& options, const io::SampleInfo& info,
                                const std::vector<DelayPoint>& delays) {
  filterbank::Problem problem{.channels = options.prototype.channels,
                              .taps = options.prototype.taps,
                              .stations = info.streams,
                              .polarizations = info.polarizations,
                              .samples = samples_of(info.type),
                              .oversampling = ratio_for(options.oversample),
                              .weights = prototype_for(options.prototype),
                              .input_block = info.block,
                              .centred = options.centred,
                              .threads = options.threads};
  check_sums(options, problem);
  if (options.by_channel) {
    problem.order = filterbank::Order::channel;
    problem.output_times = options.output_times;
  }
  if (!options.bandpass.empty()) {
    problem.bandpass =
        read_bandpass(options.bandpass, problem.channels, problem.channels * info.streams * info.polarizations);
  }
  if (!delays.empty()) {
    const double seconds = options.rate > 0 ? 1 / options.rate : info.sample_seconds;
    const double middle = options.frequency != 0 ? options.frequency : info.frequency_mhz;
    if (middle != 0 && seconds == 0) mistake("--delays with --frequency needs --rate, the samples per second");
    double longest = 0;
    for (const DelayPoint& point : delays) {
      longest = std::max(longest, *std::max_element(point.delays.begin(), point.delays.end()));
    }
    problem.delays = {.wanted = true,
                      .frequency = middle * 1e6 * seconds,
                      .longest = static_cast<std::size_t>(std::llround(std::min(longest, 1e12)))};
  }
  return problem;
}

}  // namespace ridge::cli
