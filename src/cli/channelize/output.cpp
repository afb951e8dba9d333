// Detects, correlates, reorders and writes spectra in the output formats.
#include "cli/channelize/output.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include <fmt/format.h>

#include "base/files.hpp"
#include "cli/channelize/input.hpp"
#include "cli/channelize/visibilities.hpp"
#include "command/options.hpp"
#include "filterbank/correlator.hpp"
#include "io/arrays/npy.hpp"
#include "io/encoding.hpp"
#include "io/telescopes/sigproc.hpp"

namespace ridge::cli {
namespace {

filterbank::Products products_of(const std::string& text) {
  return text == "stokes"   ? filterbank::Products::stokes
         : text == "powers" ? filterbank::Products::powers
                            : filterbank::Products::total;
}

constexpr std::size_t kRowsForLevels = 1024;

// Parses UTC or an MJD.
io::StartTime start_for(const std::string& text) {
  if (const auto start = io::parse_utc(text)) return *start;
  double mjd = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), mjd);
  if (error != std::errc() || end != text.data() + text.size() || !(mjd >= 1 && mjd < 1e6)) {
    mistake(fmt::format("--start {}: needs UTC as in 2025-03-01T12:00:00, or an MJD", text));
  }
  const double day = std::floor(mjd);
  return io::StartTime{static_cast<std::int64_t>(day), 0}.after((mjd - day) * 86400);
}

template <class T>
std::string sum_of(const std::vector<T>& values) {
  return values.empty() ? "none" : fmt::format("{:08x}", io::crc32c(values.data(), values.size() * sizeof(T)));
}

// Text of all parameters that must agree between two runs whose outputs are joined.
std::string what_is_written(const ChannelizeOptions& options, const filterbank::Problem& p) {
  std::string text = fmt::format("{} channels, {} taps, {} stations, {} polarizations, {} samples, oversampled {}/{}",
                                 p.channels, p.taps, p.stations, p.polarizations, options.samples,
                                 p.oversampling.numerator, p.oversampling.denominator);
  text += fmt::format(", weights {}, bandpass {}, delays {}", sum_of(p.weights), sum_of(p.bandpass),
                      options.delays.empty() ? "none" : options.delays);
  for (const std::string& replacement : options.replacements) text += ", " + replacement;
  if (p.centred) text += ", centred";
  if (options.by_channel) text += fmt::format(", {} times a block", p.output_times);
  if (options.correlate) text += fmt::format(", correlated {} {}", options.arithmetic, options.scale);
  if (!options.detect.empty()) text += ", " + options.detect;
  if (options.times > 1 || options.sum_channels > 1)
    text += fmt::format(", sums of {} times and {} channels", options.times, options.sum_channels);
  return text;
}

}  // namespace

void Digest::add(std::span<const std::complex<float>> values) {
  std::uint64_t sum = sum_, sums = sums_;
  for (const std::complex<float>& value : values) {
    std::uint64_t word = 0;
    std::memcpy(&word, &value, sizeof word);
    sum += word;
    sums += sum;
  }
  sum_ = sum, sums_ = sums;
}

std::string Digest::text() const { return fmt::format("{:016x}{:016x}", sums_, sum_); }

bool writes_format(const ChannelizeOptions& options, const std::string& format) {
  if (options.output_format != "auto") return options.output_format == format;
  return io::has_ending(options.out, "." + format);
}

std::optional<filterbank::Detection> detection_for(const ChannelizeOptions& options) {
  if (options.correlate || (options.detect.empty() && !writes_format(options, "fil"))) return std::nullopt;
  return filterbank::Detection{
      .products = products_of(options.detect), .times = options.times, .channels = options.sum_channels};
}

filterbank::Correlation correlation_of(const ChannelizeOptions& options) {
  return {.times = options.times,
          .channels = options.sum_channels,
          .arithmetic = filterbank::arithmetic_named(options.arithmetic),
          .scale = static_cast<float>(options.scale)};
}

Sink::Sink(const ChannelizeOptions& options, const filterbank::Problem& problem, std::size_t hop,
           const io::SampleInfo& info, double seconds, Product made, const Device& device)
    : problem_(problem),
      hop_(hop),
      out_(options.out, options.resume),
      fil_(writes_format(options, "fil")),
      npy_(writes_format(options, "npy")),
      dada_(writes_format(options, "dada")),
      uvfits_(writes_format(options, "uvfits")),
      made_(made) {
  if (options.resume && !out_.is_pipe()) note_.emplace(options.out, what_is_written(options, problem_));
  problem_.weights.clear();
  if (options.digest) digest_.emplace();
  if (options.correlate) {
    if (fil_ || !options.detect.empty()) mistake("--correlate writes .npy, .uvfits or raw, without --detect");
    each_ = options.times;
    const filterbank::Correlation correlation = correlation_of(options);
    if (made_ == Product::spectra && !device.is_host()) {
      correlator_.emplace(device, problem_, correlation);
    } else {
      correlator_.emplace(problem_, correlation);
    }
  } else if (options.arithmetic != "float32" || options.scale != 1) {
    mistake("--arithmetic and --scale need --correlate");
  } else if (const auto detection = detection_for(options)) {
    each_ = options.times;
    detector_.emplace(problem_, *detection);
    if (options.kurtosis > 0) kurtosis_.emplace(problem_, *detection, options.kurtosis);
    if (kurtosis_ && !fil_) mistake("--kurtosis writes .fil files, rings and pipes (--output-format fil)");
    if (kurtosis_ && out_.is_pipe() && options.bits == 8)
      mistake("--kurtosis marks flagged values in pipes and rings by NaN: leave out --bits 8");
  } else if (options.times != 1 || options.sum_channels != 1) {
    mistake("--times and --sum-channels need --detect or --correlate");
  } else if (options.by_channel) {
    each_ = problem.output_times;
  }
  if (dada_ && (correlator_ || detector_ || options.by_channel)) {
    mistake("a .dada file holds channels in order of time; write power to .fil, .npy or raw");
  }
  if (options.resume && out_.is_pipe()) mistake("--resume needs a raw output file");
  if (options.bits == 8) {
    if (!fil_) mistake("--bits 8 is for .fil files; other outputs are floats");
    if (options.levels.empty()) {
      eight_bits_.emplace(power_size(), kRowsForLevels);
      levels_to_ = options.out + ".levels";
    } else {
      eight_bits_.emplace(io::parse_levels(read_text(options.levels), power_size(), options.levels));
    }
  }
  if (fil_) write_fil_header(options, info, seconds);
  if (dada_) write_dada_header(options, info, seconds);
  if (uvfits_) write_uvfits_header(options, info, seconds);
  if (npy_) {
    if (out_.is_pipe()) mistake("a .npy header needs the number of times: write to a file instead of a pipe");
    header_bytes_ = write(npy_header(0, 256));
  }
}

std::size_t Sink::time_bytes() const {
  if (correlator_) return correlator_->size() * sizeof(std::complex<float>);
  if (detector_) return power_size() * sizeof(float);
  return each_ * problem_.polarizations * problem_.stations * problem_.channels * sizeof(std::complex<float>);
}

std::uint64_t Sink::there_already() {
  const std::uint64_t times = out_.size() / time_bytes();
  out_.go_on_at(times * time_bytes());
  return times;
}

std::size_t Sink::written_bytes() const { return eight_bits_ ? power_size() : time_bytes(); }

// Marks output times whose spectra contain lost samples. The latest gap may still grow, so it is marked again.
void Sink::mark_lost() {
  const std::vector<io::Gap> gaps = gaps_();
  if (gaps.empty() || (gaps_marked_ + 1 == gaps.size() && gaps.back().samples == last_gap_)) return;
  last_gap_ = gaps.back().samples;
  std::vector<filterbank::Hole> holes;
  for (std::size_t i = gaps_marked_; i < gaps.size(); ++i) holes.push_back({gaps[i].first, gaps[i].samples});
  gaps_marked_ = gaps.size() - 1;
  for (const auto& range : filterbank::flagged(problem_, holes)) {
    const std::uint64_t first = std::max(range.first, first_spectrum_) - first_spectrum_;
    const std::uint64_t end = std::max(range.end, first_spectrum_) - first_spectrum_;
    std::uint64_t from = header_bytes_ + first / each_ * written_bytes();
    const std::uint64_t to = header_bytes_ + (end + each_ - 1) / each_ * written_bytes();
    from = std::max(from, out_.position());
    if (from < to) out_.mark_lost(from - out_.position(), to - from);
  }
}

void Sink::put(std::span<const float> values) {
  if (gaps_ && out_.to_ring()) mark_lost();
  if (note_) note_->before_writing();
  switch (made_) {
    case Product::spectra:
      put_spectra({reinterpret_cast<const std::complex<float>*>(values.data()), values.size() / 2});
      break;
    case Product::power:
      put_power(values);
      break;
    case Product::correlations:
      put_correlations({reinterpret_cast<const std::complex<float>*>(values.data()), values.size() / 2});
      break;
  }
  if (note_) note_->after_writing();
}

// The spectra with zeros in those that contain lost samples, which correlations leave out.
std::span<const std::complex<float>> Sink::without_lost(std::span<const std::complex<float>> spectra,
                                                        std::size_t times) {
  const std::uint64_t from = first_spectrum_ + correlated_;
  correlated_ += times;
  const std::vector<io::Gap> gaps = gaps_ ? gaps_() : std::vector<io::Gap>{};
  if (gaps.empty()) return spectra;
  kept_.assign(spectra.begin(), spectra.end());
  const filterbank::Geometry g = filterbank::resolve(problem_);
  for (const auto& range : flagged_spectra(problem_, gaps)) {
    for (std::uint64_t t = std::max(range.first, from); t < std::min(range.end, from + times); ++t) {
      for (std::size_t i = 0; i < g.spectrum_size(); ++i) {
        const std::size_t signal = i / g.channels;
        kept_[g.place(from, t, signal % g.polarizations, signal / g.polarizations, i % g.channels)] = 0;
      }
    }
  }
  return kept_;
}

void Sink::put_spectra(std::span<const std::complex<float>> spectra) {
  const std::size_t times = spectra.size() / (problem_.polarizations * problem_.stations * problem_.channels);
  if (digest_) digest_->add(spectra);
  if (correlator_) {
    const std::size_t rows = correlator_->due(times);
    sums_.resize(rows * correlator_->size());
    correlator_->push(without_lost(spectra, times), sums_);
    put_correlations(sums_);
    return;
  }
  if (dada_) {
    sort_samples(spectra, times);
    out_.write(sums_.data(), sums_.size() * sizeof sums_[0]);
    times_ += times;
    return;
  }
  if (!detector_) {
    out_.write(spectra.data(), spectra.size_bytes());
    times_ += times;
    return;
  }
  power_.resize(detector_->due(times) * power_size());
  detector_->push(spectra, power_);
  put_power(power_);
}

// Number of spectra without lost samples in an output time.
std::uint64_t Sink::spectra_of(std::uint64_t time, std::span<const filterbank::SpectrumRange> flagged) const {
  const std::uint64_t begin = first_spectrum_ + time * each_, end = begin + each_;
  std::uint64_t count = each_;
  for (const auto& range : flagged) {
    const std::uint64_t first = std::max(range.first, begin), last = std::min(range.end, end);
    if (first < last) count -= last - first;
  }
  return count;
}

void Sink::put_correlations(std::span<const std::complex<float>> sums) {
  const std::size_t each = correlator_->size(), channels = correlator_->channels();
  std::vector<filterbank::SpectrumRange> flagged;
  if (visibilities_ && gaps_) flagged = flagged_spectra(problem_, gaps_());
  if (!visibilities_) out_.write(sums.data(), sums.size_bytes());
  for (std::size_t at = 0; at < sums.size(); at += each, ++times_) {
    if (!visibilities_) continue;
    const std::size_t rotation = problem_.centred ? 0 : channels - channels / 2;
    const std::size_t products = problem_.polarizations * problem_.polarizations;
    by_frequency_.resize(each);
    for (std::size_t i = 0; i < each; ++i) {
      const std::size_t channel = i / products % channels, row = i - i % (channels * products);
      by_frequency_[i] = sums[at + row + (channel + rotation) % channels * products + i % products];
    }
    const std::size_t summed = problem_.channels / channels;
    groups_.clear();
    visibilities_->append(times_, by_frequency_, static_cast<double>(spectra_of(times_, flagged) * summed), groups_);
    out_.write(groups_.data(), groups_.size());
  }
}

// Remembers the flags of the rows in marks_. In pipes and rings, which have no mask, flagged values are NaN.
void Sink::take_flags() {
  const auto& p = problem_;
  const std::size_t channels = detector_->channels(), rotation = fil_ && !p.centred ? channels - channels / 2 : 0;
  const std::size_t all = p.stations * channels;
  for (std::size_t row = 0; row < marks_.size() / all; ++row) {
    for (std::size_t s = 0; s < p.stations; ++s) {
      for (std::size_t k = 0; k < channels; ++k) {
        const std::size_t from = (k + rotation) % channels;
        if (marks_[row * all + s * channels + from] == 0) continue;
        ++not_noise_count_;
        if (!out_.is_pipe()) {
          not_noise_.push_back((times_ + row) * all + s * channels + k);
          continue;
        }
        for (std::size_t i = 0; i < products(); ++i)
          reduced_[((row * p.stations + s) * products() + i) * channels + from] =
              std::numeric_limits<float>::quiet_NaN();
      }
    }
  }
}

void Sink::put_power(std::span<const float> rows) {
  if (kurtosis_) {
    kurtosis_->reduce(rows, reduced_, marks_);
    take_flags();
    rows = reduced_;
  }
  if (fil_) {
    sort_by_frequency(rows);
    if (eight_bits_) {
      eight_bits_->put(sorted_, levels_);
      write_levels(false);
    } else {
      out_.write(sorted_.data(), sorted_.size() * sizeof(float));
    }
  } else {
    out_.write(rows.data(), rows.size_bytes());
  }
  times_ += rows.size() / power_size();
}

void Sink::write_levels(bool last) {
  if (last) eight_bits_->finish(levels_);
  out_.write(levels_.data(), levels_.size());
  levels_.clear();
}

void Sink::finish() {
  if (npy_) out_.rewrite_start(npy_header(times_, header_bytes_));
  if (dada_ && !out_.is_pipe() && times_ > 0) {
    dada_header_.file_bytes = times_ * dada_header_.sample_bytes();
    out_.rewrite_start(io::psrdada_text(dada_header_));
  }
  if (eight_bits_) write_levels(true);
  if (visibilities_) {
    const std::vector<std::byte> tail = visibilities_->tail(times_);
    out_.write(tail.data(), tail.size());
    out_.rewrite_start(visibilities_->head(times_));
  }
  out_.finish();
  if (!levels_to_.empty()) base::write_file(levels_to_, io::levels_text(eight_bits_->levels()));
}

std::string Sink::remark() const {
  if (!eight_bits_ || eight_bits_->clipped() == 0) return "";
  return fmt::format("; {} of {} values exceed 8 bits and were clipped", eight_bits_->clipped(), eight_bits_->values());
}

std::string Sink::what() const {
  if (correlator_) return fmt::format("{} baselines x {} channels", correlator_->baselines(), correlator_->channels());
  if (detector_) return fmt::format("{} products x {} channels of power", products(), detector_->channels());
  return fmt::format("{} x {} x {} channels", problem_.stations, problem_.polarizations, problem_.channels);
}

std::size_t Sink::write(const std::string& text) {
  out_.write(text.data(), text.size());
  header_bytes_ = text.size();
  return text.size();
}

std::string Sink::npy_header(std::uint64_t times, std::size_t reserve) const {
  const auto& p = problem_;
  const auto count = static_cast<std::size_t>(times);
  io::NpyHeader header{io::ElementType::complex64, {count, p.polarizations, p.stations, p.channels}};
  if (correlator_) {
    header.shape = {count, correlator_->baselines(), correlator_->channels(), p.polarizations, p.polarizations};
  } else if (detector_) {
    header = {io::ElementType::float32, {count, p.stations, products(), detector_->channels()}};
  } else if (p.order == filterbank::Order::channel) {
    header.shape = {count / p.output_times, p.channels, p.stations, p.polarizations, p.output_times};
  }
  return io::npy_header(header, reserve);
}

// Common header fields of formats with channels in order of frequency.
Sink::Band Sink::band(const ChannelizeOptions& options, const io::SampleInfo& info, double seconds,
                      const char* format) const {
  const auto& p = problem_;
  if (p.stations > 1 && info.stream_step_mhz == 0 && !uvfits_) {
    mistake(
        fmt::format("a {} file holds one station, the input has {}: write .npy or raw, or channelize them one by one",
                    format, p.stations));
  }
  if (p.stations > 1 && info.stream_step_mhz != 0 && uvfits_)
    mistake("a .uvfits file needs stations, but the streams of this input are channels of one station");
  if (seconds == 0) mistake(fmt::format("a {} header needs the time between samples: give --rate", format));
  if (!options.frequency_given && info.frequency_mhz == 0) {
    mistake(fmt::format("a {} header needs the centre frequency of the band: give --frequency in MHz", format));
  }
  const double megahertz = 1e-6 / seconds, sign = info.stream_step_mhz < 0 ? -1 : 1;
  const double step = sign * megahertz / static_cast<double>(p.channels);
  const double middle = options.frequency_given ? options.frequency : info.frequency_mhz;
  // In order of frequency the lowest channel is floor(channels / 2) below the centre.
  const double first = middle - step * static_cast<double>(p.channels / 2);
  const double last = first + step * static_cast<double>(p.stations * p.channels - 1);
  if (std::min(first, last) < 0) {
    mistake(
        fmt::format("a band of {} MHz around {} MHz extends below 0 MHz: --frequency is the centre of the band on the "
                    "sky",
                    io::decimal_text(megahertz), middle));
  }
  Band all{.first_mhz = first,
           .step_mhz = step,
           .start = info.start,
           .source = options.source.empty() ? info.source : options.source,
           .telescope = options.telescope.empty() ? info.telescope : options.telescope};
  if (!options.start.empty()) all.start = start_for(options.start);
  return all;
}

void Sink::write_dada_header(const ChannelizeOptions& options, const io::SampleInfo& info, double seconds) {
  const Band all = band(options, info, seconds, ".dada");
  const auto channels = static_cast<double>(problem_.stations * problem_.channels);
  io::PsrdadaHeader& header = dada_header_;
  header.bits = 32;
  header.polarizations = problem_.polarizations;
  header.channels = problem_.stations * problem_.channels;
  header.sample_seconds = seconds * static_cast<double>(hop_);
  header.frequency_mhz = all.first_mhz + all.step_mhz * (channels - 1) / 2;
  header.bandwidth_mhz = all.step_mhz * channels;
  header.offset = options.from_sample / hop_ * header.sample_bytes();
  header.start = all.start;
  header.source = all.source;
  header.telescope = all.telescope;
  write(io::psrdada_text(header));
}

// Reorders from time, polarization, station, channel to time, frequency, polarization.
void Sink::sort_samples(std::span<const std::complex<float>> spectra, std::size_t times) {
  const auto& p = problem_;
  const std::size_t rotation = p.centred ? 0 : p.channels - p.channels / 2;
  sums_.resize(spectra.size());
  std::complex<float>* to = sums_.data();
  for (std::size_t t = 0; t < times; ++t) {
    for (std::size_t s = 0; s < p.stations; ++s) {
      for (std::size_t k = 0; k < p.channels; ++k) {
        for (std::size_t q = 0; q < p.polarizations; ++q) {
          *to++ = spectra[((t * p.polarizations + q) * p.stations + s) * p.channels + (k + rotation) % p.channels];
        }
      }
    }
  }
}

void Sink::write_uvfits_header(const ChannelizeOptions& options, const io::SampleInfo& info, double seconds) {
  if (!correlator_) mistake("a .uvfits file holds correlations: give --correlate");
  if (out_.is_pipe()) mistake("a .uvfits header needs the number of times: write to a file instead of a pipe");
  const Band all = band(options, info, seconds, ".uvfits");
  const io::StartTime start = all.start.after(static_cast<double>(options.from_sample) * seconds);
  io::UvfitsHeader header = uvfits_header(options, problem_.stations, start);
  const auto summed = static_cast<double>(options.sum_channels);
  header.polarizations = problem_.polarizations;
  header.channels = correlator_->channels();
  header.step_hz = 1e6 * all.step_mhz * summed;
  header.first_hz = 1e6 * (all.first_mhz + all.step_mhz * (summed - 1) / 2);
  header.start = start;
  header.seconds = seconds * static_cast<double>(hop_ * each_);
  header.source = all.source;
  header.telescope = all.telescope;
  write(visibilities_.emplace(std::move(header)).head(0));
}

void Sink::write_fil_header(const ChannelizeOptions& options, const io::SampleInfo& info, double seconds) {
  const auto& p = problem_;
  const Band all = band(options, info, seconds, ".fil");
  io::SigprocHeader header;
  header.rawdatafile = options.in == "-" ? "" : options.in;
  header.source_name = all.source;
  header.telescope_id = io::sigproc_telescope(all.telescope);
  header.nbits = static_cast<int>(options.bits);
  header.nchans = static_cast<int>(p.stations * detector_->channels());
  header.nifs = static_cast<int>(products());
  header.tsamp = io::nearest_decimal(seconds * static_cast<double>(hop_ * options.times));
  header.tstart = all.start.after(static_cast<double>(options.from_sample) * seconds).mjd();
  header.foff = io::nearest_decimal(all.step_mhz * static_cast<double>(options.sum_channels));
  // The centre of a sum is between its channels.
  header.fch1 = io::nearest_decimal(all.first_mhz + all.step_mhz * (static_cast<double>(options.sum_channels) - 1) / 2);
  fil_header_ = header;
  write(io::sigproc_header(header));
}

void Sink::write_mask(const std::string& name, const std::vector<filterbank::SpectrumRange>& flagged) const {
  if (!fil_header_) mistake("--flags FILE.fil: needs a .fil output, whose shape it has");
  io::SigprocHeader header = *fil_header_;
  header.nbits = header.nchans % 8 == 0 ? 1 : 8;
  header.nifs = 1;
  const std::string text = io::sigproc_header(header);
  std::vector<char> row(header.row_bytes());
  io::OutputStream out(name);
  out.write(text.data(), text.size());
  auto next = flagged.begin();
  auto next_value = not_noise_.begin();
  const auto channels = static_cast<std::size_t>(header.nchans);
  for (std::uint64_t t = 0; t < times_; ++t) {
    const std::uint64_t first = first_spectrum_ + t * each_;
    while (next != flagged.end() && next->end <= first) ++next;
    const bool lost = next != flagged.end() && next->first < first + each_;
    std::fill(row.begin(), row.end(), static_cast<char>(!lost ? 0 : header.nbits == 1 ? -1 : 1));
    for (; next_value != not_noise_.end() && *next_value / channels == t; ++next_value) {
      const std::size_t channel = *next_value % channels;
      if (header.nbits == 8) row[channel] = 1;
      if (header.nbits == 1) row[channel / 8] = static_cast<char>(row[channel / 8] | 1 << channel % 8);
    }
    out.write(row.data(), row.size());
  }
  out.finish();
}

void Sink::write_counts(const std::string& name, const std::vector<filterbank::SpectrumRange>& flagged) const {
  std::vector<std::int32_t> counts(times_, static_cast<std::int32_t>(each_));
  for (const auto& range : flagged) {
    for (std::uint64_t t = std::max(range.first, first_spectrum_); t < range.end; ++t) {
      const std::uint64_t at = (t - first_spectrum_) / each_;
      if (at < counts.size()) --counts[at];
    }
  }
  const std::string text = io::npy_header({.type = io::ElementType::int32, .shape = {counts.size()}});
  io::OutputStream out(name);
  out.write(text.data(), text.size());
  out.write(counts.data(), counts.size() * sizeof(counts[0]));
  out.finish();
}

// Reorders from time, station, product, channel in FFT order to time, product, frequency.
void Sink::sort_by_frequency(std::span<const float> power) {
  const auto& p = problem_;
  const std::size_t channels = detector_->channels(), products = this->products();
  const std::size_t rotation = p.centred ? 0 : channels - channels / 2;
  const std::size_t rows = power.size() / power_size();
  sorted_.resize(power.size());
  float* to = sorted_.data();
  for (std::size_t t = 0; t < rows; ++t) {
    for (std::size_t product = 0; product < products; ++product) {
      for (std::size_t s = 0; s < p.stations; ++s) {
        const float* from = power.data() + ((t * p.stations + s) * products + product) * channels;
        for (std::size_t k = 0; k < channels; ++k) *to++ = from[(k + rotation) % channels];
      }
    }
  }
}

std::vector<filterbank::SpectrumRange> flagged_spectra(const filterbank::Problem& problem,
                                                       const std::vector<io::Gap>& gaps) {
  std::vector<filterbank::Hole> holes;
  for (const io::Gap& gap : gaps) holes.push_back({gap.first, gap.samples});
  return filterbank::flagged(problem, holes);
}

std::uint64_t write_flags(const ChannelizeOptions& options, const filterbank::Problem& problem,
                          const std::vector<io::Gap>& gaps, std::uint64_t from, std::uint64_t end, const Sink& sink) {
  std::uint64_t count = 0;
  std::string text = "# first and last spectrum with lost samples\n";
  const std::vector<filterbank::SpectrumRange> flagged = flagged_spectra(problem, gaps);
  for (const auto& range : flagged) {
    const std::uint64_t first = std::max(range.first, from), last = std::min(range.end, end);
    if (first >= last) continue;
    count += last - first;
    text += fmt::format("{} {}\n", first, last - 1);
  }
  if (io::has_ending(options.flags, ".fil")) {
    sink.write_mask(options.flags, flagged);
  } else if (options.correlate && io::has_ending(options.flags, ".npy")) {
    sink.write_counts(options.flags, flagged);
  } else if (!options.flags.empty()) {
    base::write_file(options.flags, text);
  }
  return count;
}

}  // namespace ridge::cli
