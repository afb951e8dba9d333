#include "cli/channelize_files.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <optional>

#include <fmt/format.h>

#include "base/aligned.hpp"
#include "base/clock.hpp"
#include "base/files.hpp"
#include "base/progress.hpp"
#include "base/text.hpp"
#include "io/guppi.hpp"
#include "io/npy.hpp"
#include "io/psrdada.hpp"
#include "io/samples.hpp"
#include "io/sigproc.hpp"
#include "io/vdif.hpp"

namespace ridge::cli {
namespace {

using filterbank::Samples;

[[noreturn]] void mistake(const std::string& what) { throw Error(ErrorKind::invalid_argument, what); }

bool ends_with(const std::string& name, std::string_view end) {
  return name.size() >= end.size() && name.compare(name.size() - end.size(), end.size(), end) == 0;
}

filterbank::Ratio parse_ratio(const std::string& text) {
  filterbank::Ratio ratio;
  const auto slash = text.find('/');
  const auto number = [&](std::string_view part, std::size_t& to) {
    const auto [at, error] = std::from_chars(part.data(), part.data() + part.size(), to);
    if (error != std::errc() || at != part.data() + part.size()) {
      mistake(fmt::format("--oversample {}: a ratio like 8/7 or 2 is wanted", text));
    }
  };
  number(std::string_view(text).substr(0, slash), ratio.numerator);
  if (slash != std::string::npos) number(std::string_view(text).substr(slash + 1), ratio.denominator);
  return ratio;
}

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

// What the bytes of a .npy file are: int8 or int16 with a last axis of 2, or complex64; the axes before are those of
// the filter bank, polarization last, as far as they are there.
io::SampleInfo npy_info(io::InputStream& in, const ChannelizeWishes& wishes) {
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
    mistake(fmt::format("{} holds {}; complex64, int8 and int16 are samples", in.name(), io::name_of(header.type)));
  }
  info.streams = wishes.stations;
  info.polarizations = wishes.polarizations;
  info.block = wishes.block;
  if (wishes.polarizations == 2 && (shape.empty() || shape.back() != 2)) {
    mistake(fmt::format("{}: two polarizations need an axis of 2 (or say --polarizations 1)", in.name()));
  }
  return info;
}

std::unique_ptr<io::SampleReader> open_samples(const ChannelizeWishes& wishes) {
  auto in = std::make_unique<io::InputStream>(wishes.in);
  std::string format = wishes.format;
  const std::string_view start = in->peek(64);
  if (format == "auto") {
    format = io::looks_like_npy(start)       ? "npy"
             : io::looks_like_guppi(start)   ? "guppi"
             : io::looks_like_psrdada(start) ? "dada"
             : io::looks_like_sigproc(start) ? "fil"
             : ends_with(wishes.in, ".vdif") ? "vdif"
                                             : "raw";
  }
  if (format == "fil") mistake(fmt::format("{} is a SIGPROC file: it holds power, not samples", in->name()));
  if (format == "guppi") return io::guppi_reader(std::move(in));
  if (format == "dada") return io::psrdada_reader(std::move(in));
  if (format == "vdif") return io::vdif_reader(std::move(in), wishes.polarizations_given ? wishes.polarizations : 0);
  if (format == "npy") {
    const io::SampleInfo info = npy_info(*in, wishes);
    return io::raw_reader(std::move(in), info);
  }
  io::SampleInfo info;
  info.type = sample_type(wishes.samples);
  info.streams = wishes.stations;
  info.polarizations = wishes.polarizations;
  info.block = wishes.block;
  return io::raw_reader(std::move(in), info);
}

filterbank::Products products_of(const std::string& text) {
  return text == "stokes"   ? filterbank::Products::stokes
         : text == "powers" ? filterbank::Products::powers
                            : filterbank::Products::total;
}

// The output: spectra as they are, or power; a header before it where the format has one.
class Sink {
 public:
  Sink(const ChannelizeWishes& wishes, const filterbank::Plan& plan, const io::SampleInfo& info, double seconds)
      : plan_(plan), out_(wishes.out), fil_(ends_with(wishes.out, ".fil")), npy_(ends_with(wishes.out, ".npy")) {
    const auto& problem = plan.problem();
    if (fil_ || !wishes.detect.empty()) {
      detector_.emplace(
          problem, filterbank::Detection{
                       .products = products_of(wishes.detect), .times = wishes.times, .channels = wishes.sum_channels});
    } else if (wishes.times != 1 || wishes.sum_channels != 1) {
      mistake("--times and --sum-channels are for power: say which with --detect");
    }
    if (fil_) write_fil_header(wishes, info, seconds);
    if (npy_) {
      if (out_.is_pipe()) mistake("a .npy header says how many times follow: write to a file");
      header_bytes_ = write(io::npy_header(npy(0), 256));
    }
  }

  // How many values of power one push can make.
  void put(std::span<const std::complex<float>> spectra) {
    const std::size_t times = spectra.size() / plan_.spectrum_size();
    if (!detector_) {
      out_.write(spectra.data(), spectra.size_bytes());
      times_ += times;
      return;
    }
    const std::size_t rows = detector_->due(times), size = detector_->row_size();
    power_.resize(rows * size);
    detector_->push(spectra, power_);
    if (fil_) {
      sort_by_frequency(rows);
      out_.write(sorted_.data(), sorted_.size() * sizeof(float));
    } else {
      out_.write(power_.data(), power_.size() * sizeof(float));
    }
    times_ += rows;
  }

  void finish() {
    if (npy_) out_.rewrite_start(io::npy_header(npy(times_), header_bytes_));
    out_.finish();
  }

 private:
  std::size_t write(const std::string& text) {
    out_.write(text.data(), text.size());
    return text.size();
  }

  io::NpyHeader npy(std::uint64_t times) const {
    const auto& p = plan_.problem();
    const auto count = static_cast<std::size_t>(times);
    if (detector_) {
      return {io::ElementType::float32, {count, p.stations, detector_->products(), detector_->channels()}};
    }
    return {io::ElementType::complex64, {count, p.polarizations, p.stations, p.channels}};
  }

  void write_fil_header(const ChannelizeWishes& wishes, const io::SampleInfo& info, double seconds) {
    const auto& p = plan_.problem();
    if (p.stations > 1 && info.stream_step_mhz == 0) {
      mistake("a .fil file holds one station; write .npy or raw, or channelize them one by one");
    }
    if (seconds == 0) mistake("a .fil header needs the time between samples: give --rate");
    const double megahertz = 1e-6 / seconds;
    const double sign = info.stream_step_mhz < 0 ? -1 : 1;
    io::SigprocHeader header;
    header.rawdatafile = wishes.in == "-" ? "" : wishes.in;
    header.source_name = info.source;
    header.nchans = static_cast<int>(p.stations * detector_->channels());
    header.nifs = static_cast<int>(detector_->products());
    header.tsamp = seconds * static_cast<double>(plan_.hop() * wishes.times);
    header.tstart = info.start_mjd + static_cast<double>(wishes.from_sample) * seconds / 86400;
    const double channel = sign * megahertz / static_cast<double>(p.channels);
    header.foff = channel * static_cast<double>(wishes.sum_channels);
    const double middle = wishes.frequency != 0 ? wishes.frequency : info.frequency_mhz;
    // The lowest channel in order is floor(channels / 2) below the middle; a sum's middle is between its channels.
    header.fch1 = middle - channel * static_cast<double>(p.channels / 2) +
                  channel * (static_cast<double>(wishes.sum_channels) - 1) / 2;
    write(io::sigproc_header(header));
  }

  // From time, station, product, channel as the FFT leaves them to time, product, frequency.
  void sort_by_frequency(std::size_t rows) {
    const auto& p = plan_.problem();
    const std::size_t channels = detector_->channels(), products = detector_->products();
    const std::size_t turn = p.centred ? 0 : channels - channels / 2;
    sorted_.resize(power_.size());
    float* to = sorted_.data();
    for (std::size_t t = 0; t < rows; ++t) {
      for (std::size_t product = 0; product < products; ++product) {
        for (std::size_t s = 0; s < p.stations; ++s) {
          const float* from = power_.data() + ((t * p.stations + s) * products + product) * channels;
          for (std::size_t k = 0; k < channels; ++k) *to++ = from[(k + turn) % channels];
        }
      }
    }
  }

  const filterbank::Plan& plan_;
  io::OutputStream out_;
  bool fil_, npy_;
  std::optional<filterbank::Detector> detector_;
  std::vector<float> power_, sorted_;
  std::size_t header_bytes_ = 0;
  std::uint64_t times_ = 0;
};

// Sums of neighbours before the spectrum is in order of frequency would join both ends of the band.
void check_sums(const ChannelizeWishes& wishes, filterbank::Problem& problem) {
  if (!ends_with(wishes.out, ".fil")) return;
  if (problem.channels % 2 == 0) {
    problem.centred = true;
  } else if (wishes.sum_channels > 1) {
    mistake("--sum-channels of an odd number of channels cannot be in order of frequency; write .npy or raw");
  }
}

std::uint64_t write_flags(const ChannelizeWishes& wishes, const filterbank::Problem& problem,
                          const std::vector<io::Gap>& gaps, std::uint64_t from, std::uint64_t end) {
  std::vector<filterbank::Hole> holes;
  for (const io::Gap& gap : gaps) holes.push_back({gap.first, gap.samples});
  std::uint64_t count = 0;
  std::string text = "# first and last spectrum whose samples were not all there\n";
  for (const auto& range : filterbank::flagged(problem, holes)) {
    const std::uint64_t first = std::max(range.first, from), last = std::min(range.end, end);
    if (first >= last) continue;
    count += last - first;
    text += fmt::format("{} {}\n", first, last - 1);
  }
  if (!wishes.flags.empty()) base::write_file(wishes.flags, text);
  return count;
}

}  // namespace

std::vector<double> prototype_for(const PrototypeWishes& wishes) {
  if (wishes.weights.empty()) {
    const filterbank::Window window = wishes.window == "hamming"    ? filterbank::Window::hamming
                                      : wishes.window == "blackman" ? filterbank::Window::blackman
                                      : wishes.window == "gaussian" ? filterbank::Window::gaussian
                                                                    : filterbank::Window::kaiser;
    return filterbank::design(wishes.channels, wishes.taps,
                              {.window = window, .shape = wishes.shape, .width = wishes.width});
  }
  io::InputStream in(wishes.weights);
  std::size_t count = wishes.channels * wishes.taps;
  bool narrow = false;
  if (io::looks_like_npy(in.peek(6))) {
    const io::NpyHeader header = io::read_npy_header(in);
    if (header.type != io::ElementType::float64 && header.type != io::ElementType::float32) {
      mistake(fmt::format("{} holds {}; weights are float32 or float64", in.name(), io::name_of(header.type)));
    }
    narrow = header.type == io::ElementType::float32;
    if (header.elements() != count) {
      mistake(fmt::format("{} holds {} weights; {} channels x {} taps need {}", in.name(), header.elements(),
                          wishes.channels, wishes.taps, count));
    }
  }
  std::vector<double> weights(count);
  std::vector<float> floats(narrow ? count : 0);
  const std::size_t bytes = count * (narrow ? 4 : 8);
  if (in.read(narrow ? static_cast<void*>(floats.data()) : static_cast<void*>(weights.data()), bytes) != bytes ||
      !in.peek(1).empty()) {
    throw Error(ErrorKind::io, fmt::format("{} does not hold the {} weights of {} channels x {} taps", in.name(), count,
                                           wishes.channels, wishes.taps));
  }
  if (narrow) std::copy(floats.begin(), floats.end(), weights.begin());
  return weights;
}

void channelize(const ChannelizeWishes& wishes) {
  const auto reader = open_samples(wishes);
  const io::SampleInfo info = reader->info();
  filterbank::Problem problem{.channels = wishes.prototype.channels,
                              .taps = wishes.prototype.taps,
                              .stations = info.streams,
                              .polarizations = info.polarizations,
                              .samples = samples_of(info.type),
                              .oversampling = parse_ratio(wishes.oversample),
                              .weights = prototype_for(wishes.prototype),
                              .input_block = info.block,
                              .centred = wishes.centred,
                              .threads = wishes.threads};
  check_sums(wishes, problem);
  const filterbank::Plan plan =
      filterbank::plan(device(wishes.device), problem,
                       {.effort = wishes.measure ? Effort::measured : Effort::quick, .variant = wishes.variant});
  const double seconds = wishes.rate > 0 ? 1 / wishes.rate : info.sample_seconds;

  filterbank::Stream stream(plan);
  if (wishes.from_sample % (plan.hop() * wishes.times) != 0) {
    mistake(fmt::format("--from-sample {}: a multiple of {} (samples of one output time) is wanted", wishes.from_sample,
                        plan.hop() * wishes.times));
  }
  const std::uint64_t first = wishes.from_sample / plan.hop();
  if (first > 0) reader->skip(stream.start_at(first));
  Sink sink(wishes, plan, info, seconds);

  // As much at a time as the memory allows, and no more than keeps a pipe lively.
  const std::size_t in_each = plan.hop() * info.sample_bytes(), out_each = plan.spectrum_size() * 8;
  const std::size_t spectra =
      std::clamp<std::size_t>(std::min(wishes.memory, std::size_t{64} << 20) / (in_each + 2 * out_each), 1, 65536);
  base::AlignedArray<std::byte> in(spectra * in_each);
  // The last station's samples of a block complete it all at once.
  const std::size_t at_once = std::max(info.block, problem.channels) / plan.hop() + 2;
  base::AlignedArray<std::complex<float>> out((spectra + at_once) * plan.spectrum_size());
  const auto progress = base::terminal_progress();
  const double begun = base::now();
  double working = 0, shown = begun;
  for (;;) {
    const std::size_t got = reader->read(in.data(), in.size());
    const double before = base::now();
    const std::size_t made = stream.push(in.span().first(got), out.span());
    const double after = base::now();
    working += after - before;
    sink.put(out.span().first(made * plan.spectrum_size()));
    if (after - shown > 0.2) {
      shown = after;
      // Nobody knows how long a pipe is: the bar shows that it lives, the words how far it is.
      progress(std::min(0.99, 1 - 1 / (1 + (after - begun) / 10)),
               fmt::format("{} spectra, {}", stream.spectra() - first,
                           base::human_rate(static_cast<double>((stream.spectra() - first) * plan.hop() * info.streams *
                                                                info.polarizations) /
                                                (after - begun),
                                            "sample/s")));
    }
    if (got < in.size()) break;
  }
  progress(1, "");
  sink.finish();

  const std::uint64_t done = stream.spectra() - first;
  const std::uint64_t flagged = write_flags(wishes, problem, reader->gaps(), first, stream.spectra());
  if (wishes.quiet) return;
  const double taken = base::now() - begun;
  const double samples = static_cast<double>(done * plan.hop() * info.streams * info.polarizations);
  std::string report = fmt::format("{} spectra of {} x {} x {} channels in {} ({}; the bank alone {})", done,
                                   info.streams, info.polarizations, problem.channels, base::human_seconds(taken),
                                   base::human_rate(samples / std::max(taken, 1e-9), "sample/s"),
                                   base::human_rate(samples / std::max(working, 1e-9), "sample/s"));
  if (seconds > 0 && taken > 0) {
    report += fmt::format(", {:.3g} times real time", static_cast<double>(done * plan.hop()) * seconds / taken);
  }
  report += fmt::format(", next sample {}", stream.spectra() * plan.hop());
  if (reader->samples_lost() > 0) {
    report += fmt::format("; {} samples lost in {} gaps, {} spectra flagged", reader->samples_lost(),
                          reader->gaps().size(), flagged);
  } else {
    report += "; nothing lost";
  }
  fmt::print(stderr, "{}, {}\n", report, plan.variant());
}

}  // namespace ridge::cli
