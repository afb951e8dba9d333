// `ridge bench fft --sweep`: lengths by batches; and `--latency`: what one call costs.
#pragma once
#include <string>
#include <vector>

#include "bench/fft.hpp"

namespace ridge::cli {

std::string peer_of_device(const Device& device);  // the library that users of such a device compare with
// False for cells of more points than a cell may have, or of more memory than the device has.
bool is_sweep_cell(const Device& device, const PeerProblem& problem);
// Adds "length", "batch" and, per peer, "vs_PEER": how many times as fast Ridgeline is.
void add_sweep_members(const PeerProblem& problem, report::BenchRow& row);

// `--latency`: a table of the time per call, and of a call and a wait, beside those of an empty kernel and of peers.
std::string latency_table(const std::vector<FftBench>& problems, const std::vector<Device>& devices,
                          const std::vector<Peer>& peers);

}  // namespace ridge::cli
