// Layout of a sample stream: the position of every sample, and the samples that each spectrum needs.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>

#include <ridge/filterbank.hpp>

namespace ridge::filterbank {

struct Geometry {
  std::size_t channels, taps, stations, polarizations;
  Samples samples;
  std::size_t hop;           // samples between consecutive spectra
  std::size_t block;         // contiguous samples of one station
  std::size_t threads;       // resolved: at least 1
  std::size_t sample_bytes;  // of one complex sample of one polarization
  bool centred;
  std::size_t times;    // spectra per output block; 1 for Order::time
  bool by_channel;      // Order::channel
  bool delayed;         // the problem has delays
  std::size_t longest;  // largest delay of a station, in whole samples

  bool critical() const { return hop == channels; }
  std::size_t row_samples() const { return channels * polarizations; }  // complex values of one station's row
  std::size_t row_bytes() const { return row_samples() * sample_bytes; }
  std::size_t frame_bytes() const { return stations * block * polarizations * sample_bytes; }
  std::size_t spectrum_size() const { return polarizations * stations * channels; }

  // Number of samples that all stations have in the first `bytes` of the stream.
  std::uint64_t samples_in(std::uint64_t bytes) const;
  // Number of spectra that those samples allow: whole output blocks, with every station delayed by up to `longest`.
  std::uint64_t spectra_in(std::uint64_t bytes) const {
    const std::uint64_t there = samples_in(bytes);
    return there < longest ? 0 : (there - longest) / hop / times * times;
  }
  std::int64_t newest(std::uint64_t spectrum) const { return static_cast<std::int64_t>((spectrum + 1) * hop) - 1; }
  // Sample number of the centre of a spectrum's window, at which its delay is evaluated.
  double middle(std::uint64_t spectrum) const {
    return static_cast<double>(newest(spectrum)) - (static_cast<double>(channels * taps) - 1) / 2;
  }
  // Position of a value in the output, in complex values from the start of the block that holds spectrum `first`.
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
  // Frequency of channel k, in channel spacings from the centre of the band.
  std::int64_t signed_channel(std::size_t channel) const {
    const auto k = static_cast<std::int64_t>(channel), c = static_cast<std::int64_t>(channels);
    return centred ? k - c / 2 : k < (c + 1) / 2 ? k : k - c;
  }
  // The first row (a row is `channels` samples) that a spectrum needs; negative before the start of the stream.
  std::int64_t oldest_row(std::uint64_t spectrum) const;
  // Byte position of the frame that holds a sample.
  std::uint64_t frame_start(std::int64_t sample) const;

  std::string key() const;  // identical for the same problem in every process
  double flops() const;     // of one spectrum of all stations and polarizations
  double bytes() const;
};

// Checks the problem and computes its geometry; throws Error{invalid_argument}.
Geometry resolve(const Problem& problem);

// Refuses sums of `summed` neighbouring channels that do not divide the bank, or of which one would join the highest
// and the lowest frequency. `what` starts the message: "power needs ...".
void check_summed(const Geometry& geometry, std::size_t summed, const char* what);

// Returns the problem with its prototype designed (if it gives none) and checked.
Problem complete(const Problem& problem);

}  // namespace ridge::filterbank
