// The FFT benchmark of `ridge bench fft` and `ridge tour`.
#pragma once
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "bench/peers/peer.hpp"
#include "report/bench_rows.hpp"

namespace ridge::cli {

struct FftBench {
  PeerProblem problem;                 // the problem, for Ridgeline and the peers
  std::string variant;                 // only this variant; empty: the planner's choice
  std::vector<std::string> also = {};  // further variants, in separate rows
  double seconds_each = 0.2;
  std::string stored = {};  // devices: storage as "f16" or "bf16"; empty: the type of the arithmetic
  std::size_t trials = 0;   // devices: variants to time before one is chosen; 0: the planner's default
  bool window = false;      // devices: applies a window on load; peers do not
};

struct FftBenchResult {
  std::vector<report::BenchRow> rows;  // the planner's choice first
  std::string explanation;
  std::vector<std::string> notes;          // "ne10: left out of ...: why"
  std::vector<std::string> disagreements;  // devices: results that differ; such a peer is not timed
  double flops = 0, bytes = 0;             // of the whole problem, by the conventional count
};

// Times Ridgeline and the peers alternately on the same data. On the host, Error{internal} if a peer's result differs.
FftBenchResult bench_fft(const Device& device, const FftBench& wanted, const std::vector<Peer>& peers);

std::string fft_problem_text(const PeerProblem& problem);  // "fft c64 1024 batch 64"

}  // namespace ridge::cli
