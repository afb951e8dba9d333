// Inputs of `ridge channelize`: samples of any format, weights, bandpass factors and delays.
#pragma once
#include <complex>
#include <memory>
#include <vector>

#include "cli/channelize/files.hpp"
#include "io/telescopes/samples.hpp"

namespace ridge::cli {

std::unique_ptr<io::SampleReader> open_samples(const ChannelizeOptions& options);

// Complex factors of the channels: .npy of complex64, float32 or float64, or raw complex float; one per channel, or one
// per (polarization, station, channel).
std::vector<std::complex<float>> read_bandpass(const std::string& name, std::size_t channels, std::size_t all);

std::string read_text(const std::string& name);  // a whole file or pipe

// One line per point: a sample number, then one delay in samples per (polarization, station). # begins a comment.
struct DelayPoint {
  std::uint64_t sample = 0;
  std::vector<double> delays{};
};
std::vector<DelayPoint> read_delays(const std::string& name, std::size_t each);

// The filter bank problem for these samples. With delays it includes the longest delay and the frequency of the phases.
filterbank::Problem problem_for(const ChannelizeOptions& options, const io::SampleInfo& info,
                                const std::vector<DelayPoint>& delays);

}  // namespace ridge::cli
