// Kernels of the device probes in the dialect. Every function returns a complete source; the tests compile them all.
#pragma once
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include <ridge/device.hpp>

namespace ridge::machine {

// Main memory. A tile is ITEMS(0) x `vectors` float4; all its loads are in flight before the first store. A group
// processes the tiles GROUP_ID, GROUP_ID + GROUPS, ...
//   copy_<vectors>[_once](from, to, uint tiles)    for the vectors of kVectors, plain and streaming
//   write_<vectors>[_once](to, uint tiles, float value)
inline constexpr int kVectors[] = {1, 2, 4, 8};
KernelSource memory_kernels();

// Caches. A group visits `rounds` tiles of ITEMS(0) x 4 uint4: it starts at tile GROUP_ID * base_step +
// (GROUP_ID * start_step) % range and advances by `step` within the `range` tiles from GROUP_ID * base_step.
//   window_read(from, out, base_step, start_step, range, step, rounds)    out[GLOBAL_ID] = sum of all words read
//   window_read_l2(...)                                                  the same, bypassing L1
//   window_write(to, base_step, start_step, range, step, rounds)
//   window_copy(from, to, base_step, start_step, range, step, rounds)
// Local memory: a block of kLocalVectors uint4 per group; work-item i visits i, i + ITEMS, ... cyclically.
//   local_read(out, rounds)  local_write(out, rounds)  local_copy(out, rounds)    8 visits per round
// Launch latency: empty(out).
inline constexpr int kWindowVectors = 4;
inline constexpr std::uint32_t kLocalVectors = 1024;
inline constexpr int kLocalVisits = 8;
KernelSource cache_kernels();

// Arithmetic: kFmaChains independent chains a = b * c + a per work-item, kFmaUnrolled steps of each per round. Chain k
// of work-item i starts at (i mod 64) + k; out[i * kFmaChains + k] is its end.
//   fma_float(constants, out, uint rounds)    fma_double the same in double (its own source: not every device has it)
inline constexpr int kFmaChains = 16;
inline constexpr int kFmaUnrolled = 16;
KernelSource fma_kernels(bool in_double);

// Memory spaces (after the GPU placement thesis, section 5.1.3): every work-item reads one byte at index
// (((tid & mask) >> shift) * stride), tid in 0..1023 inside its group, and writes it to out[GLOBAL_ID].
//   access_registers(out)   access_global|access_cached|access_local(from, out, mask, shift, stride)
//   access_constant(out, mask, shift, stride)     reads a table that equals access_table()
// Poison: poison(buffer, vectors, value) overwrites a large buffer so that no cache holds anything else.
inline constexpr std::uint32_t kAccessItems = 1024;
inline constexpr std::uint32_t kAccessBytes = 16 * kAccessItems;
std::vector<std::uint8_t> access_table();
KernelSource access_kernels(std::size_t items);  // `items` work-items per group; kAccessItems if the device allows it

// A kernel of adjustable duration: spin(out, uint rounds), out[GLOBAL_ID] = spin_value(GLOBAL_ID, rounds).
KernelSource spin_kernels();
std::uint32_t spin_value(std::uint32_t item, std::uint32_t rounds);

std::vector<KernelSource> all_probe_kernels();

}  // namespace ridge::machine
