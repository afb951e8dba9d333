// Lower bound on the time of a transform by the machine model, and the limiting ceiling.
#pragma once
#include <string>

#include <ridge/device.hpp>

namespace ridge::cli {

struct FftFloor {
  double arithmetic_seconds = 0;  // flops over the peak
  double memory_seconds = 0;      // bytes over the bandwidth of the level that holds them
  std::string peak{}, level{};    // as text: "83.1 GFLOP/s", "L2 at 45.2 GB/s"
  bool measured = false;          // false: the ceilings are estimated
  double seconds() const { return arithmetic_seconds > memory_seconds ? arithmetic_seconds : memory_seconds; }
};

// Each of `bytes` is read or written once; `threads` 0 means all.
FftFloor fft_floor(const Device& device, double flops, double bytes, bool float64, std::size_t threads);

}  // namespace ridge::cli
