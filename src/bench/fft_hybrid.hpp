// `ridge bench fft --device host+cuda:0`: one batch in host memory divided among several devices.
#pragma once
#include <string>
#include <vector>

#include "bench/fft.hpp"

namespace ridge::cli {

struct HybridBenchOptions {
  bool pinned = false, no_pin = false;
  std::size_t cores = 0, units = 0;
  std::string piece;  // bytes, "1M"
  double seconds = 1;
};

// Parses "host+cuda:0". Error if a name is not a device.
std::vector<Device> parse_joined_devices(const std::string& names);

// Rows of all devices together and of each alone; the explanation lists shares and rates. The result is first compared
// with that of the first device alone.
FftBenchResult bench_fft_hybrid(const std::vector<Device>& devices, const FftBench& wanted,
                                const HybridBenchOptions& options);

}  // namespace ridge::cli
