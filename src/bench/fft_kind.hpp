// Benchmark of real-to-real transforms.
#pragma once
#include "bench/fft.hpp"

namespace ridge::cli {

// Parses "dct2"; Error{invalid_argument} listing the known names.
fft::RealKind parse_real_kind(const std::string& name);

// Applies wanted.problem.kind along every axis. On a device data are resident, and the share is relative to a copy.
FftBenchResult bench_fft_kind(const Device& device, const FftBench& wanted, const std::vector<Peer>& peers);

}  // namespace ridge::cli
