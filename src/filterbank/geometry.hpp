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
  std::size_t times;    // spectra of an output block; 1 in order of time
  bool by_channel;      // Order::channel
  bool delayed;         // delays are tracked
  std::size_t longest;  // whole samples a station may be read further on

  bool critical() const { return hop == channels; }
  std::size_t row_samples() const { return channels * polarizations; }  // complex values of one station's row
  std::size_t row_bytes() const { return row_samples() * sample_bytes; }
  std::size_t frame_bytes() const { return stations * block * polarizations * sample_bytes; }
  std::size_t spectrum_size() const { return polarizations * stations * channels; }

  // Whole samples of every station in the first `bytes` of the stream.
  std::uint64_t samples_in(std::uint64_t bytes) const;
  // Spectra that can be written with them: whole output blocks, every station's longest delay there.
  std::uint64_t spectra_in(std::uint64_t bytes) const {
    const std::uint64_t there = samples_in(bytes);
    return there < longest ? 0 : (there - longest) / hop / times * times;
  }
  std::int64_t newest(std::uint64_t spectrum) const { return static_cast<std::int64_t>((spectrum + 1) * hop) - 1; }
  // The middle of a spectrum's window, as a sample number: where its delay is taken.
  double middle(std::uint64_t spectrum) const {
    return static_cast<double>(newest(spectrum)) - (static_cast<double>(channels * taps) - 1) / 2;
  }
  // A value's place in the output, in complex values from the start of the block that holds spectrum `first`.
  std::size_t place(std::uint64_t first, std::uint64_t spectrum, std::size_t polarization, std::size_t station,
                    std::size_t channel) const {
    if (!by_channel) {
      return ((static_cast<std::size_t>(spectrum - first) * polarizations + polarization) * stations + station) *
                 channels +
             channel;
    }
    const auto block_number = static_cast<std::size_t>(spectrum / times - first / times);
    return (((block_number * channels + channel) * stations + station) * polarizations + polarization) * times +
           static_cast<std::size_t>(spectrum % times);
  }
  // Channel k's frequency in channels from the middle of the band.
  std::int64_t signed_channel(std::size_t channel) const {
    const auto k = static_cast<std::int64_t>(channel), c = static_cast<std::int64_t>(channels);
    return centred ? k - c / 2 : k < (c + 1) / 2 ? k : k - c;
  }
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
