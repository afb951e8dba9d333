// Where every sample of a stream lies and which of them a spectrum needs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <ridge/filterbank.hpp>

namespace ridge::filterbank {

struct Geometry {
  std::size_t channels, taps, stations, polarizations;
  Samples samples;
  std::size_t hop;           // samples from a spectrum to the next
  std::size_t block;         // samples of one station that lie together
  std::size_t threads;       // resolved: at least 1
  std::size_t sample_bytes;  // of one complex sample of one polarization
  bool centred;

  bool critical() const { return hop == channels; }
  std::size_t row_samples() const { return channels * polarizations; }  // complex values of one station's row
  std::size_t row_bytes() const { return row_samples() * sample_bytes; }
  std::size_t frame_bytes() const { return stations * block * polarizations * sample_bytes; }
  std::size_t spectrum_size() const { return polarizations * stations * channels; }

  // Whole samples of every station in the first `bytes` of the stream.
  std::uint64_t samples_in(std::uint64_t bytes) const;
  std::uint64_t spectra_in(std::uint64_t bytes) const { return samples_in(bytes) / hop; }
  std::int64_t newest(std::uint64_t spectrum) const { return static_cast<std::int64_t>((spectrum + 1) * hop) - 1; }
  // The first row (samples row * channels and on) a spectrum needs; below 0 before the stream starts.
  std::int64_t oldest_row(std::uint64_t spectrum) const;
  // Where the frame that holds a sample begins in the stream.
  std::uint64_t frame_start(std::int64_t sample) const;

  std::string key() const;  // the same for the same problem in every process
  double flops() const;     // of one time, all stations
  double bytes() const;
};

// Error{invalid_argument} in words.
Geometry resolve(const Problem& problem);

// The problem with its prototype filled in and checked.
Problem complete(const Problem& problem);

}  // namespace ridge::filterbank
