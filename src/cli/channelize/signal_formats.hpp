// Writes a synthetic signal in instrument formats: adds headers and frames to raw samples.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "io/telescopes/samples.hpp"
#include "io/telescopes/stream.hpp"

namespace ridge::cli {

class SignalFormat {
 public:
  virtual ~SignalFormat() = default;
  // Whole blocks of samples as described by `info`, in order.
  virtual void put(std::span<const std::byte> blocks) = 0;
};

// `name` is "raw", "guppi", "dada" or "vdif". The first block has the number `first`, and `bytes` of samples follow.
// Error if the format does not support such samples.
std::unique_ptr<SignalFormat> signal_format(const std::string& name, const io::SampleInfo& info, std::uint64_t first,
                                            std::uint64_t bytes, io::OutputStream& out);

// The format requested by --format or the file name, and its default sample rate.
std::string signal_format_name(const std::string& format, const std::string& out);
double default_rate(const std::string& format);

// Consecutive samples per stream in a format: `wanted`, or the number it prescribes.
std::size_t block_of_format(const std::string& name, std::size_t wanted);

}  // namespace ridge::cli
