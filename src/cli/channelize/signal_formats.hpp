// A synthetic signal in the formats of instruments: raw samples in, headers and frames around them out.
#pragma once
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "io/samples.hpp"
#include "io/stream.hpp"

namespace ridge::cli {

class SignalFormat {
 public:
  virtual ~SignalFormat() = default;
  // Whole blocks of the samples that `info` describes, in order.
  virtual void put(std::span<const std::byte> blocks) = 0;
};

// "raw", "guppi", "dada" or "vdif"; the first block has the number `first`, and `bytes` of samples follow. Error where
// the format has no such samples.
std::unique_ptr<SignalFormat> signal_format(const std::string& name, const io::SampleInfo& info, std::uint64_t first,
                                            std::uint64_t bytes, io::OutputStream& out);

// The format that --format or the name of the file asks for, and the sample rate it has by default.
std::string signal_format_name(const std::string& format, const std::string& out);
double default_rate(const std::string& format);

// The samples of a stream that lie together in a format: `wanted`, or what it prescribes.
std::size_t block_of_format(const std::string& name, std::size_t wanted);

}  // namespace ridge::cli
