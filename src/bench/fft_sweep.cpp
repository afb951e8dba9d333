#include "bench/fft_sweep.hpp"

namespace ridge::cli {
namespace {

double points_per_transform(const PeerProblem& problem) {
  double points = 1;
  for (const std::size_t side : problem.shape) points *= static_cast<double>(side);
  return points;
}

}  // namespace

std::string peer_of_device(const Device& device) {
  const Backend backend = device.info().backend;
  return backend == Backend::cuda ? "cufft" : backend == Backend::opencl ? "clfft" : "fftw";
}

bool is_sweep_cell(const Device& device, const PeerProblem& problem) {
  constexpr double kArrays = 6;  // input, output and intermediate data of two plans
  const double most = device.is_host() ? 0x1p22 : 0x1p26, memory = static_cast<double>(device.limits().memory);
  const double points = points_per_transform(problem) * static_cast<double>(problem.batch);
  return points <= most && (memory == 0 || points * (problem.float64 ? 16 : 8) * kArrays <= memory);
}

void add_sweep_members(const PeerProblem& problem, report::BenchRow& row) {
  row.more["length"] = points_per_transform(problem);
  row.more["batch"] = static_cast<double>(problem.batch);
  for (const auto& [peer, seconds] : row.peers) row.more["vs_" + peer] = seconds / row.seconds;
}

}  // namespace ridge::cli
