// What `ridge channelize` reads: samples of any format, weights, factors and delays.
#pragma once
#include <complex>
#include <memory>
#include <vector>

#include "cli/channelize/files.hpp"
#include "io/samples.hpp"

namespace ridge::cli {

// Error where the stream begins like a file of another format. `sure`: not by short marks, which samples may begin with
// by chance.
void refuse_foreign(io::InputStream& in, bool sure);

std::unique_ptr<io::SampleReader> open_samples(const ChannelizeOptions& options);

// Complex factors of the channels: .npy of complex64, float32 or float64, or raw complex float; `channels`, or one a
// (polarization, station, channel).
std::vector<std::complex<float>> read_bandpass(const std::string& name, std::size_t channels, std::size_t all);

std::string read_text(const std::string& name);  // a whole file or pipe

// A line a point: a sample number, then a delay in samples for each (polarization, station). # begins a comment.
struct DelayPoint {
  std::uint64_t sample = 0;
  std::vector<double> delays{};
};
std::vector<DelayPoint> read_delays(const std::string& name, std::size_t each);

// The bank for these samples. The longest delay and the frequency of the phases are in it where delays are wished for.
filterbank::Problem problem_for(const ChannelizeOptions& options, const io::SampleInfo& info,
                                const std::vector<DelayPoint>& delays);

}  // namespace ridge::cli
