// What `ridge channelize` writes: spectra, their power or their correlation, with a header where the format has one.
#pragma once
#include <complex>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "cli/channelize/files.hpp"
#include "cli/channelize/work.hpp"
#include "io/eight_bits.hpp"
#include "io/psrdada.hpp"
#include "io/resume_note.hpp"
#include "io/samples.hpp"
#include "io/stream.hpp"

namespace ridge::cli {

// A sum of what passes that depends on its order: two numbers modulo 2^64, over words of 8 bytes.
class Digest {
 public:
  void add(std::span<const std::complex<float>> values);
  std::string text() const;

 private:
  std::uint64_t sum_ = 0, sums_ = 0;
};

// Power as the options ask for it, or nothing.
std::optional<filterbank::Detection> detection_for(const ChannelizeOptions& options);

// Products as the options ask for them.
filterbank::Correlation correlation_of(const ChannelizeOptions& options);

class Sink {
 public:
  // What comes is `made`; where that is spectra and power or correlations are wished for, they are made here, the
  // latter on `device`. `seconds` from a sample to the next, 0 where nobody said.
  Sink(const ChannelizeOptions& options, const filterbank::Problem& problem, std::size_t hop,
       const io::SampleInfo& info, double seconds, Product made, const Device& device);

  // Spectra that become one output time.
  std::size_t spectra_each() const { return each_; }
  // --resume: output times that are there already, whole ones; what is left of another is cut off.
  std::uint64_t there_already();

  void put(std::span<const float> values);  // whole output times of what is made
  void finish();
  std::string what() const;  // of one output time, in words
  std::uint64_t written() const { return times_; }
  std::string remark() const;  // for the report: values that 8 bits could not hold
  std::string digest() const { return digest_ ? digest_->text() : std::string(); }

 private:
  void put_spectra(std::span<const std::complex<float>> spectra);
  void put_power(std::span<const float> rows);
  std::size_t write(const std::string& text);
  std::string npy_header(std::uint64_t times, std::size_t reserve) const;
  struct Band {
    double first_mhz = 0, step_mhz = 0;  // of the first channel in order, and to the next
    io::StartTime start{};               // of the stream's first sample
    std::string source{}, telescope{};
  };
  Band band(const ChannelizeOptions& options, const io::SampleInfo& info, double seconds, const char* format) const;
  void write_dada_header(const ChannelizeOptions& options, const io::SampleInfo& info, double seconds);
  void sort_samples(std::span<const std::complex<float>> spectra, std::size_t times);
  void write_fil_header(const ChannelizeOptions& options, const io::SampleInfo& info, double seconds);
  void sort_by_frequency(std::span<const float> power);
  void write_levels(bool last);
  std::size_t time_bytes() const;

  filterbank::Problem problem_;  // without weights
  std::size_t hop_, each_ = 1;
  io::OutputStream out_;
  std::optional<io::ResumeNote> note_;
  bool fil_, npy_, dada_;
  Product made_;
  std::optional<filterbank::Detector> detector_;
  std::optional<filterbank::Correlator> correlator_;
  std::optional<Digest> digest_;
  std::optional<io::EightBits> eight_bits_;
  std::string levels_to_;  // the file that estimated levels go to
  std::vector<std::uint8_t> levels_;
  std::vector<float> power_, sorted_;
  io::PsrdadaHeader dada_header_;
  std::vector<std::complex<float>> sums_;  // correlations, or channels in another order
  std::size_t header_bytes_ = 0;
  std::uint64_t times_ = 0;
};

// Writes the spectra with lost samples to --flags, and returns how many there are between `from` and `end`.
std::uint64_t write_flags(const ChannelizeOptions& options, const filterbank::Problem& problem,
                          const std::vector<io::Gap>& gaps, std::uint64_t from, std::uint64_t end);

}  // namespace ridge::cli
