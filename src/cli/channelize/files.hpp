// `ridge channelize IN OUT`: reads any format, runs a bank in blocks of bounded memory, writes channels, power or
// correlations.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ridge/filterbank.hpp>

#include <ridge/mpi/communicator.hpp>
#include "command/options.hpp"

namespace ridge::cli {

struct PrototypeOptions {
  std::size_t channels = 256, taps = 16;
  std::string window = "kaiser";
  double shape = 0, width = 1;
  std::string weights;  // a file of channels * taps numbers: .npy or raw float64
};
void add_prototype_options(Command& command, PrototypeOptions& options);
// The prototype's weights; Error with the reason.
std::vector<double> prototype_for(const PrototypeOptions& options);

// "1048576:new.f64": weights from the first spectrum whose newest sample has this number or a later one.
struct Replacement {
  std::uint64_t sample = 0;
  std::vector<double> weights{};
};
Replacement replacement_for(const std::string& text, PrototypeOptions options);

// "8/7" or "2".
filterbank::Ratio ratio_for(const std::string& text);

struct ChannelizeOptions {
  std::string in, out;
  std::string subbands;  // "0-7": substituted for {} in IN and OUT
  std::string format = "auto";
  PrototypeOptions prototype;
  std::string oversample = "1/1";
  std::size_t stations = 1, polarizations = 2, block = 0;  // raw; VDIF: polarizations
  bool stations_given = false, polarizations_given = false;
  std::string samples = "i8";  // raw
  bool centred = false;
  double rate = 0, frequency = 0;  // Hz, MHz; for raw input, or overriding the header
  bool frequency_given = false;
  std::string start, source, telescope;  // override the header; start is UTC or an MJD
  std::size_t bits = 32;                 // of a .fil file's values
  std::string levels;                    // a file of offsets and scales for 8 bits
  bool by_channel = false;
  std::size_t output_times = 16;
  std::string bandpass, delays;
  std::vector<std::string> replacements;  // "SAMPLE:FILE", in order of samples
  bool correlate = false;
  std::string arithmetic = "float32";
  double scale = 1;
  std::string output_format = "auto", lost;
  std::string positions, site, phase_centre, feeds = "linear";  // .uvfits
  double kurtosis = 0;                                          // share of noise that is flagged; 0: off
  std::string detect;  // total, powers, stokes; empty: none, or total for a .fil file
  std::size_t times = 1, sum_channels = 1;
  std::uint64_t from_sample = 0;
  std::uint64_t first_sample = 0;  // number of the input's first sample
  bool resume = false, digest = false;
  std::string flags, schedule;
  std::string variant, device = "host";
  std::size_t threads = 0;
  std::size_t memory = std::size_t{64} << 20;
  bool measure = false, quiet = false;
};

// True if the output has this format ("fil", "dada", "npy", "uvfits"), by --output-format or its name's ending.
bool writes_format(const ChannelizeOptions& options, const std::string& format);

// In one process or under mpirun, one subband or many.
void channelize(const ChannelizeOptions& options, const mpi::Communicator& processes);

}  // namespace ridge::cli
