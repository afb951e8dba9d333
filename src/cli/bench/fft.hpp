// The FFT's bench, for `ridge bench fft` and for the tour.
#pragma once
#include <string>
#include <vector>

#include <ridge/device.hpp>

#include "cli/peers/peer.hpp"
#include "report/bench_rows.hpp"

namespace ridge::cli {

struct FftBench {
  PeerProblem problem;                 // what everyone runs
  std::string variant;                 // only this one of ours; empty: the planner's choice
  std::vector<std::string> also = {};  // variants of ours to put in rows of their own
  double seconds_each = 0.2;
  std::string stored = {};  // devices: numbers in memory are "f16" or "bf16"; empty: as they are computed with
  std::size_t trials = 0;   // devices: variants to time before one is chosen; 0: the planner's own number
  bool window = false;      // devices: points are weighted on load, which peers do not do
};

struct FftBenchResult {
  std::vector<report::BenchRow> rows;  // the planner's choice first
  std::string explanation;
  std::vector<std::string> notes;          // "ne10: left out of ...: why"
  std::vector<std::string> disagreements;  // devices: answers that differ; such a peer is not timed
  double flops = 0, bytes = 0;             // of the whole problem, counted as usual
};

// Ours and the peers in turn on the same data. On the host Error{internal} where a peer's answer differs from ours.
FftBenchResult bench_fft(const Device& device, const FftBench& wanted, const std::vector<Peer>& peers);

std::string fft_problem_text(const PeerProblem& problem);  // "fft c64 1024 batch 64"

}  // namespace ridge::cli
