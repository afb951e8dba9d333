// What the machine model says no transform can beat, and which ceiling says so.
#pragma once
#include <string>

#include <ridge/device.hpp>

namespace ridge::cli {

struct FftFloor {
  double arithmetic_seconds = 0;  // flops over the peak
  double memory_seconds = 0;      // bytes over the bandwidth of the level that holds them
  std::string peak{}, level{};    // both in words: "83.1 GFLOP/s", "L2 at 45.2 GB/s"
  bool measured = false;          // false: the ceilings are estimated
  double seconds() const { return arithmetic_seconds > memory_seconds ? arithmetic_seconds : memory_seconds; }
};

// `bytes` are read or written once each; `threads` 0 means all.
FftFloor fft_floor(const Device& device, double flops, double bytes, bool float64, std::size_t threads);

}  // namespace ridge::cli
