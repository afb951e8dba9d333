// Operations and bytes of a filter bank's parts, as its papers count them: what a FIR output of one channel costs when
// nothing is cached, for int16 samples and float weights. The planner does not use it; the tables of the LOFAR study
// are reproduced with it, and `ridge bench filterbank` prints the floor beside what is measured.
#pragma once
#include <cstddef>

namespace ridge::filterbank::cost {

struct Cost {
  double flops = 0, bytes = 0;
  double intensity() const { return flops / bytes; }
};

// One FIR output of one polarization, of both at once, and of a delay line kept in registers over `batches` batches of
// `taps` samples (one polarization, both in one thread).
Cost fir(std::size_t taps);
Cost fir_two_polarizations(std::size_t taps);
Cost fir_batched(std::size_t taps, double batches);
Cost fir_batched_vectorized(std::size_t taps, double batches);

Cost fft(std::size_t channels);

// FLOP/s: min(peak, bandwidth * intensity).
double attainable(const Cost& cost, double peak, double bandwidth);

// The device of the study's first GPU: registers a thread, and resident thread blocks, warps and occupancy of a
// multiprocessor with 32768 registers, 48 warps and 8 blocks.
std::size_t registers_per_thread(std::size_t taps);
struct Occupancy {
  std::size_t registers = 0, threads_per_block = 0, blocks = 0, warps = 0;
  double share = 0;
};
Occupancy occupancy(std::size_t taps, std::size_t threads_per_block);
// Thread blocks of one station: 2 * channels = threads * blocks, with the most threads that divide evenly.
struct Blocks {
  std::size_t threads = 0, blocks = 0;
};
Blocks blocks_per_station(std::size_t channels, std::size_t most_threads);
// Its second GPU: registers of four floats, and wavefronts a compute unit.
std::size_t wide_registers(std::size_t taps, bool both_polarizations);
std::size_t wavefronts(std::size_t registers);

// Bytes a complex sample moves through memory: everything fused, and FIR, FFT and delay as kernels of their own.
double fused_bytes(double sample_bytes);
double separate_bytes(double sample_bytes);

}  // namespace ridge::filterbank::cost
