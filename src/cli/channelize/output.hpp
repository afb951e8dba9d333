// Outputs of `ridge channelize`: spectra, power or correlations, with a header if the format has one.
#pragma once
#include <complex>
#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/channelize/files.hpp"
#include "cli/channelize/kurtosis.hpp"
#include "cli/channelize/work.hpp"
#include "io/telescopes/eight_bits.hpp"
#include "io/telescopes/fits/uvfits.hpp"
#include "io/telescopes/psrdada.hpp"
#include "io/telescopes/resume_note.hpp"
#include "io/telescopes/samples.hpp"
#include "io/telescopes/sigproc.hpp"
#include "io/telescopes/stream.hpp"

namespace ridge::cli {

// An order-dependent checksum of the output: two numbers modulo 2^64, over words of 8 bytes.
class Digest {
 public:
  void add(std::span<const std::complex<float>> values);
  std::string text() const;

 private:
  std::uint64_t sum_ = 0, sums_ = 0;
};

// Power detection requested by the options, or nothing.
std::optional<filterbank::Detection> detection_for(const ChannelizeOptions& options);

// Correlation requested by the options.
filterbank::Correlation correlation_of(const ChannelizeOptions& options);

class Sink {
 public:
  // `made` is the kind of input. If it is spectra and the options request power or correlations, these are computed
  // here, correlations on `device`. `seconds` is the time between samples; 0: unknown.
  Sink(const ChannelizeOptions& options, const filterbank::Problem& problem, std::size_t hop,
       const io::SampleInfo& info, double seconds, Product made, const Device& device);

  // Spectra per output time.
  std::size_t spectra_each() const { return each_; }
  // --resume: number of complete output times in the file; an incomplete one is truncated.
  std::uint64_t there_already();

  // `gaps` returns the lost samples among those processed so far. Output times with lost samples are marked in a ring.
  void watch(std::function<std::vector<io::Gap>()> gaps, std::uint64_t first_spectrum) {
    gaps_ = std::move(gaps);
    first_spectrum_ = first_spectrum;
  }
  void put(std::span<const float> values);  // complete output times
  void finish();
  std::string what() const;  // text that describes one output time
  std::uint64_t written() const { return times_; }
  std::string remark() const;  // for the report: number of clipped 8-bit values
  // Writes a .fil file of the output's shape with one bit per value (8 unless rows are whole bytes), 1 in output times
  // of the flagged spectra and in values that --kurtosis flagged.
  std::uint64_t not_noise() const { return not_noise_count_; }
  void write_mask(const std::string& name, const std::vector<filterbank::SpectrumRange>& flagged) const;
  // Correlations: writes the number of spectra in each integration, those without lost samples, as .npy.
  void write_counts(const std::string& name, const std::vector<filterbank::SpectrumRange>& flagged) const;
  std::string digest() const { return digest_ ? digest_->text() : std::string(); }

 private:
  void put_spectra(std::span<const std::complex<float>> spectra);
  void put_power(std::span<const float> rows);
  void put_correlations(std::span<const std::complex<float>> sums);
  std::uint64_t spectra_of(std::uint64_t time, std::span<const filterbank::SpectrumRange> flagged) const;
  std::size_t products() const { return kurtosis_ ? kurtosis_->products() : detector_->products(); }
  std::size_t power_size() const { return kurtosis_ ? kurtosis_->row_size() : detector_->row_size(); }
  void take_flags();
  std::size_t write(const std::string& text);
  std::string npy_header(std::uint64_t times, std::size_t reserve) const;
  struct Band {
    double first_mhz = 0, step_mhz = 0;  // frequency of the first channel in order; distance to the next
    io::StartTime start{};               // time of the stream's first sample
    std::string source{}, telescope{};
  };
  Band band(const ChannelizeOptions& options, const io::SampleInfo& info, double seconds, const char* format) const;
  void write_dada_header(const ChannelizeOptions& options, const io::SampleInfo& info, double seconds);
  void sort_samples(std::span<const std::complex<float>> spectra, std::size_t times);
  void write_uvfits_header(const ChannelizeOptions& options, const io::SampleInfo& info, double seconds);
  void write_fil_header(const ChannelizeOptions& options, const io::SampleInfo& info, double seconds);
  void sort_by_frequency(std::span<const float> power);
  void write_levels(bool last);
  std::size_t time_bytes() const;
  std::size_t written_bytes() const;  // per output time, as stored
  void mark_lost();
  std::span<const std::complex<float>> without_lost(std::span<const std::complex<float>> spectra, std::size_t times);

  filterbank::Problem problem_;  // without weights
  std::size_t hop_, each_ = 1;
  io::OutputStream out_;
  std::optional<io::ResumeNote> note_;
  bool fil_, npy_, dada_, uvfits_;
  Product made_;
  std::optional<filterbank::Detector> detector_;
  std::optional<Kurtosis> kurtosis_;
  std::vector<float> reduced_;
  std::vector<std::uint8_t> marks_;       // of the rows being written
  std::vector<std::uint64_t> not_noise_;  // flagged values: output time x channels of a row + channel, in order
  std::optional<filterbank::Correlator> correlator_;
  std::optional<Digest> digest_;
  std::optional<io::EightBits> eight_bits_;
  std::string levels_to_;  // output file of estimated levels
  std::vector<std::uint8_t> levels_;
  std::vector<float> power_, sorted_;
  io::PsrdadaHeader dada_header_;
  std::vector<std::complex<float>> sums_;  // correlations, or reordered channels
  std::optional<io::SigprocHeader> fil_header_;
  std::optional<io::Uvfits> visibilities_;
  std::vector<std::complex<float>> by_frequency_;  // sums of one integration
  std::vector<std::byte> groups_;                  // of one integration
  std::function<std::vector<io::Gap>()> gaps_;
  std::size_t gaps_marked_ = 0;
  std::uint64_t first_spectrum_ = 0, last_gap_ = 0, correlated_ = 0;
  std::vector<std::complex<float>> kept_;  // spectra to correlate, with zeros for lost ones
  std::size_t header_bytes_ = 0;
  std::uint64_t times_ = 0, not_noise_count_ = 0;
};

// Spectra with lost samples, in order.
std::vector<filterbank::SpectrumRange> flagged_spectra(const filterbank::Problem& problem,
                                                       const std::vector<io::Gap>& gaps);

// Writes the spectra with lost samples to --flags, and returns their number between `from` and `end`.
std::uint64_t write_flags(const ChannelizeOptions& options, const filterbank::Problem& problem,
                          const std::vector<io::Gap>& gaps, std::uint64_t from, std::uint64_t end, const Sink& sink);

}  // namespace ridge::cli
