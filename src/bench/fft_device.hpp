// The FFT benchmark with data resident on a device.
#pragma once
#include "bench/fft.hpp"

namespace ridge::cli {

// As bench_fft. The roofline share is relative to a copy of the same bytes within the device, timed in the same rounds.
FftBenchResult bench_fft_on_device(const Device& device, const FftBench& wanted, const std::vector<Peer>& peers);

}  // namespace ridge::cli
