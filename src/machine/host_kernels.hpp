// The host probes' inner loops. Each runs on the calling thread only, in the widest instruction set this processor has.
#pragma once
#include <cstddef>
#include <cstdint>

namespace ridge::machine {

// Independent chains of fused multiply-adds, acc = x * x + acc, enough of them to hide the latency. Chain k starts at k
// in all its lanes; the sum of all lanes of all chains is returned, so that nothing can be left out. A Neoverse V1 does
// four NEON multiply-adds a cycle where x was loaded from memory or is a zero, and two where an instruction (dup, fmov,
// fmul) made it: such a value seems to be at hand for half of the pipes only. So x is loaded anew in every iteration.
struct FmaShape {
  std::size_t lanes = 0, chains = 0;
  double flops() const { return 2.0 * static_cast<double>(lanes * chains); }  // an iteration
};
FmaShape fma_shape_float();
FmaShape fma_shape_double();
double fma_chains_float(std::size_t iterations, float x);
double fma_chains_double(std::size_t iterations, double x);

// Bytes are a multiple of 8 and addresses aligned to base::kAlignment.
std::uint64_t read_bytes(const std::byte* from, std::size_t bytes);  // XOR of all 64-bit words
void write_bytes(std::byte* to, std::size_t bytes, std::uint64_t word);
void copy_bytes(const std::byte* from, std::byte* to, std::size_t bytes);

// Non-temporal stores (MOVNT* on x86, STNP on ARM). Where the processor has neither these are plain stores, and
// has_streaming_stores() is false.
bool has_streaming_stores();
void write_bytes_streaming(std::byte* to, std::size_t bytes, std::uint64_t word);
void copy_bytes_streaming(const std::byte* from, std::byte* to, std::size_t bytes);

}  // namespace ridge::machine
