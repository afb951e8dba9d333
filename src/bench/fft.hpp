// The FFT benchmark of `ridge bench fft` and `ridge tour`.
#pragma once
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/mpi/communicator.hpp>

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
  bool power = false;       // energy by the machine's counter
  bool transfers = false;   // devices: also with transfers from and to host memory
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

// The FFT benchmark with data resident on a device.

// As bench_fft. The roofline share is relative to a copy of the same bytes within the device, timed in the same rounds.
FftBenchResult bench_fft_on_device(const Device& device, const FftBench& wanted, const std::vector<Peer>& peers);

// Benchmark of real-to-real transforms.

// Parses "dct2"; Error{invalid_argument} listing the known names.
fft::RealKind parse_real_kind(const std::string& name);

// Applies wanted.problem.kind along every axis. On a device data are resident, and the share is relative to a copy.
FftBenchResult bench_fft_kind(const Device& device, const FftBench& wanted, const std::vector<Peer>& peers);

// `mpirun ridge bench fft`: benchmark of distributed transforms.

// Collective; the root's rows hold the time of the slowest process. The whole spectrum is compared with the peer's.
FftBenchResult bench_fft_mpi(const mpi::Communicator& all, const FftBench& wanted, bool against_fftw_mpi);

// Planning times of transforms on a device: `ridge bench fft --planning`.
struct PlanningTimes {
  double quick = 0;         // empty cache: the model's choice, compiled
  double quick_cached = 0;  // its kernels from the cache on disk
  double measured = 0;      // candidates compiled, run and timed
  double saved = 0;         // repeated: from wisdom and the cache
  std::string variant;      // the measured choice
};

// Uses a temporary cache folder. The device's context already exists.
PlanningTimes planning_times(const Device& device, const FftBench& wanted);

// A table with one line per problem.
std::string planning_table(const std::vector<FftBench>& problems, const std::vector<Device>& devices);

// `ridge bench fft --device host+cuda:0`: one batch in host memory divided among several devices.
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
