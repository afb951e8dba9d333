// Real-to-real transforms in the FFT's bench.
#pragma once
#include "cli/bench/fft.hpp"

namespace ridge::cli {

// "dct2"; Error{invalid_argument} naming those that exist.
fft::RealKind parse_real_kind(const std::string& name);

// wanted.problem.kind along every axis. On a device data stays there, and the share is that of a copy.
FftBenchResult bench_fft_kind(const Device& device, const FftBench& wanted, const std::vector<Peer>& peers);

}  // namespace ridge::cli
