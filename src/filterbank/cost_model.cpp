// Operation and byte counts of the LOFAR study's filter bank.
#include "filterbank/cost_model.hpp"

#include <algorithm>
#include <cmath>

namespace ridge::filterbank::cost {
namespace {

double real(std::size_t value) { return static_cast<double>(value); }

}  // namespace

Cost fir(std::size_t taps) { return {2 + 4 * (real(taps) - 1), 12 * real(taps) - 4 + 16}; }

Cost fir_two_polarizations(std::size_t taps) { return {4 + 8 * (real(taps) - 1), 20 * real(taps) - 8 + 32}; }

Cost fir_batched(std::size_t taps, double batches) { return {fir(taps).flops, 16 / batches + 4 * real(taps) + 12}; }

Cost fir_batched_vectorized(std::size_t taps, double batches) {
  return {fir_two_polarizations(taps).flops, 32 / batches + 4 * real(taps) + 24};
}

Cost fft(std::size_t channels) { return {5 * real(channels) * std::log2(real(channels)), 32 * real(channels)}; }

double attainable(const Cost& cost, double peak, double bandwidth) {
  return std::min(peak, bandwidth * cost.intensity());
}

std::size_t registers_per_thread(std::size_t taps) { return 2 * taps + 10; }

Occupancy occupancy(std::size_t taps, std::size_t threads_per_block) {
  constexpr std::size_t kRegisters = 32768, kWarps = 48, kBlocks = 8, kLanes = 32;
  const std::size_t registers = registers_per_thread(taps);
  const std::size_t warps_each = (threads_per_block + kLanes - 1) / kLanes;
  const std::size_t blocks = std::min({kBlocks, kRegisters / (registers * threads_per_block), kWarps / warps_each});
  const std::size_t warps = blocks * warps_each;
  return {registers, threads_per_block, blocks, warps, real(warps) / real(kWarps)};
}

Blocks blocks_per_station(std::size_t channels, std::size_t most_threads) {
  const std::size_t all = 2 * channels;
  std::size_t blocks = (all + most_threads - 1) / most_threads;
  while (all % blocks != 0) ++blocks;
  return {all / blocks, blocks};
}

std::size_t wide_registers(std::size_t taps, bool both_polarizations) {
  return ((both_polarizations ? 4 : 2) * taps + 10 + 3) / 4;
}

std::size_t wavefronts(std::size_t registers) { return std::min<std::size_t>(32, 248 / registers); }

double fused_bytes(double sample_bytes) { return sample_bytes + 8; }

// The FIR reads samples and writes floats; FFT and delay each read and write floats.
double separate_bytes(double sample_bytes) { return sample_bytes + 8 + 2 * 16; }

}  // namespace ridge::filterbank::cost
