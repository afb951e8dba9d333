// The FFT benchmark of `ridge bench fft` and `ridge tour`.
#pragma once
#include <string>
#include <vector>

#include "bench/bench.hpp"
#include "bench/peers/peer.hpp"

namespace ridge::cli {

struct FftBench {
  PeerProblem problem{};               // the problem, for Ridgeline and the peers
  std::string variant{};               // only this variant; empty: the planner's choice
  std::vector<std::string> also = {};  // further variants, in separate rows
  double seconds_each = 0.2;
  std::string stored = {};  // devices: storage as "f16" or "bf16"; empty: the type of the arithmetic
  std::size_t trials = 0;   // devices: variants to time before one is chosen; 0: the planner's default
  bool power = false;       // energy by the machine's counter
  bool transfers = false;   // devices: also with transfers from and to host memory
  bool window = false;      // devices: applies a window on load; peers do not
  bool convolve = false;    // host: convolution of a signal with a filter of as many samples
};

// Times Ridgeline and the peers alternately on the same data. On the host, Error{internal} if a peer's result differs.
// On a device data are resident, and the roofline share is relative to a copy of the same bytes in the same rounds.
BenchResult bench_fft(const Device& device, const FftBench& wanted, const std::vector<Peer>& peers);

// FftBench::convolve: on the host, one thread.
BenchResult bench_convolution(const FftBench& wanted, const std::vector<Peer>& peers);

std::string fft_problem_text(const PeerProblem& problem);  // "fft c64 1024 batch 64"

// `mpirun ridge bench fft`. Collective; the root's rows hold the time of the slowest process. The whole spectrum is
// compared with the peer's.
BenchResult bench_fft_mpi(const mpi::Communicator& all, const FftBench& wanted, bool against_fftw_mpi);

// `ridge bench fft --planning`: a table of planning times with one line per problem and device.
std::string planning_table(const std::vector<FftBench>& problems, const std::vector<Device>& devices);

// `ridge bench fft --device host+cuda:0`: one batch in host memory divided among several devices.
struct HybridBenchOptions {
  bool pinned = false, no_pin = false;
  std::size_t cores = 0, units = 0;
  std::string piece;  // bytes, "1M"
  double seconds = 1;
};

// Parses "host+cuda:0". Error if a name is not a device.
fft::RealKind parse_real_kind(const std::string& name);  // "dct2"
std::vector<Device> parse_joined_devices(const std::string& names);

// Rows of all devices together and of each alone; the notes list shares and rates. The result is first compared with
// that of the host alone.
BenchResult bench_fft_hybrid(const std::vector<Device>& devices, const FftBench& wanted,
                             const HybridBenchOptions& options);

// `ridge bench fft --sweep`: lengths by batches; and `--latency`: time of one call.

std::string peer_of_device(const Device& device);  // the library that users of such a device compare with
// False for cells of more points than a cell may have, or of more memory than the device has.
bool is_sweep_cell(const Device& device, const PeerProblem& problem);
// Adds "length", "batch" and, per peer, "vs_PEER": how many times as fast Ridgeline is.
void add_sweep_members(const PeerProblem& problem, report::BenchRow& row);

// `--latency`: a table of the time per call, and of a call and a wait, beside those of an empty kernel and of peers.
std::string latency_table(const std::vector<FftBench>& problems, const std::vector<Device>& devices,
                          const std::vector<Peer>& peers);

}  // namespace ridge::cli
