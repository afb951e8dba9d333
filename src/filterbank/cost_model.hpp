// Operation and byte counts of a filter bank's stages, as the papers of the LOFAR study count them: the cost of one FIR
// output of one channel without any caching, for int16 samples and float weights. The planner does not use this model.
// It reproduces the tables of the study, and `ridge bench filterbank` prints the lower bound beside the measured time.
#pragma once
#include <cstddef>

namespace ridge::filterbank::cost {

struct Cost {
  double flops = 0, bytes = 0;
  double intensity() const { return flops / bytes; }
};

// Cost of one FIR output: for one polarization; for both at once; and with the delay line kept in registers over
// `batches` batches of `taps` samples, for one polarization and for both in one thread.
Cost fir(std::size_t taps);
Cost fir_two_polarizations(std::size_t taps);
Cost fir_batched(std::size_t taps, double batches);
Cost fir_batched_vectorized(std::size_t taps, double batches);

Cost fft(std::size_t channels);

// FLOP/s: min(peak, bandwidth * intensity).
double attainable(const Cost& cost, double peak, double bandwidth);

// Model of the study's first GPU: registers per thread, and the resident thread blocks, warps and occupancy of a
// multiprocessor with 32768 registers, 48 warps and 8 blocks.
std::size_t registers_per_thread(std::size_t taps);
struct Occupancy {
  std::size_t registers = 0, threads_per_block = 0, blocks = 0, warps = 0;
  double share = 0;
};
Occupancy occupancy(std::size_t taps, std::size_t threads_per_block);
// Thread blocks per station: 2 * channels = threads * blocks, with the largest number of threads that divides evenly.
struct Blocks {
  std::size_t threads = 0, blocks = 0;
};
Blocks blocks_per_station(std::size_t channels, std::size_t most_threads);
// Model of the study's second GPU: vector registers of four floats per thread, and wavefronts per compute unit.
std::size_t wide_registers(std::size_t taps, bool both_polarizations);
std::size_t wavefronts(std::size_t registers);

// Bytes of memory traffic per complex sample: with all stages fused, and with FIR, FFT and delay as separate kernels.
double fused_bytes(double sample_bytes);
double separate_bytes(double sample_bytes);

}  // namespace ridge::filterbank::cost
