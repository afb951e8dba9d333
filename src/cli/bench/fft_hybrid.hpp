// `ridge bench fft --device host+cuda:0`: one batch in host memory over several devices at once.
#pragma once
#include <string>
#include <vector>

#include "cli/bench/fft.hpp"

namespace ridge::cli {

struct HybridBenchOptions {
  bool pinned = false, no_pin = false;
  std::size_t cores = 0, units = 0;
  std::string piece;  // bytes, "1M"
  double seconds = 1;
};

// "host+cuda:0" -> its devices. Error where a name is no device.
std::vector<Device> parse_joined_devices(const std::string& names);

// Rows beside "host alone" and so on; the explanation has shares and rates. The answer is compared with the first
// device's alone before.
FftBenchResult bench_fft_hybrid(const std::vector<Device>& devices, const FftBench& wanted,
                                const HybridBenchOptions& options);

}  // namespace ridge::cli
