// Inner loops of the host probes. Each runs on the calling thread only, in the widest instruction set of this
// processor.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::machine {

// Independent chains of fused multiply-adds, acc = x * x + acc, enough of them to hide the latency. Chain k starts at k
// in all its lanes; returns the sum of all lanes of all chains, so that no work can be optimized away. x is loaded in
// every iteration: a Neoverse V1 executes four NEON multiply-adds per cycle if x was loaded from memory or is zero, and
// only two if an instruction (dup, fmov, fmul) produced it.
struct FmaShape {
  std::size_t lanes = 0, chains = 0;
  double flops() const { return 2.0 * static_cast<double>(lanes * chains); }  // per iteration
};
FmaShape fma_shape_float();
FmaShape fma_shape_double();
double fma_chains_float(std::size_t iterations, float x);
double fma_chains_double(std::size_t iterations, double x);

// Sizes are multiples of 8 bytes and addresses are aligned to base::kAlignment.
std::uint64_t read_bytes(const std::byte* from, std::size_t bytes);  // XOR of all 64-bit words
void write_bytes(std::byte* to, std::size_t bytes, std::uint64_t word);
void copy_bytes(const std::byte* from, std::byte* to, std::size_t bytes);

// Non-temporal stores (MOVNT* on x86, STNP on ARM). Without either these are plain stores, and has_streaming_stores()
// is false.
bool has_streaming_stores();
void write_bytes_streaming(std::byte* to, std::size_t bytes, std::uint64_t word);
void copy_bytes_streaming(const std::byte* from, std::byte* to, std::size_t bytes);

// ARM's non-temporal pair store (STNP); Highway's Stream() is a plain store on ARM.
bool arm_has_streaming_stores();
void arm_write_streaming(std::byte* to, std::size_t bytes, std::uint64_t word);
void arm_copy_streaming(const std::byte* from, std::byte* to, std::size_t bytes);

}  // namespace ridge::machine
