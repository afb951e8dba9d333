// The FFT's bench where the data is resident on a device.
#pragma once
#include "cli/bench/fft.hpp"

namespace ridge::cli {

// As bench_fft. The share of the roof is of a copy of the same bytes within the device, timed in the same rounds.
FftBenchResult bench_fft_on_device(const Device& device, const FftBench& wanted, const std::vector<Peer>& peers);

}  // namespace ridge::cli
