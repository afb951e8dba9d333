// The `blocks` FIR: blocks of spectra from raw rows in registers, for 256 to 4096 channels.
#include "filterbank/device/fir/blocks/blocks.hpp"

#include <algorithm>
#include <bit>

#include "filterbank/device/fir/fir.hpp"
#include "filterbank/device/fir/power_codegen.hpp"

namespace ridge::filterbank::on_device {

extern const Fir kBlocksFir;

namespace {

bool sum_blocks(KernelDesign& design, std::size_t times) {
  return sum_whole_iterations(design, times, block_power_rows(design));
}

// Registers per work-item of `blocks`: raw rows, sums of a block of spectra, weights.
std::size_t block_registers(const KernelDesign& d) {
  const std::size_t each = d.geometry.channels / d.items, taps = d.geometry.taps;
  const bool pairs = d.parts == 2 && d.geometry.samples == Samples::int8;
  return each * ((pairs ? taps / 2 : taps - 1) + d.parts * d.steps) + (pairs ? d.steps : each * d.steps) + taps + 8;
}

// The fastest numbers on an H200 (512x8, 1024x4, 512x16, 1024x16, 4096x4: docs/measurements/h200.md).
std::size_t block_local_squares(const KernelDesign& d) {
  if (sums_both_polarizations(d)) return 0;
  if (d.parts == 2) return 8;
  if (d.resident < 2) return 0;
  return block_registers(d) > 104 ? 16 : 4;
}

// With few stores, more registers per work-item or both polarizations in a group pay where they did not for spectra
// (H200: 1024x16 272 instead of 262 Gsample/s, 4096x4 344 instead of 332).
bool slower_block_power(const KernelDesign& d) {
  const Geometry& g = d.geometry;
  return (g.channels == 1024 && g.taps > 8 && g.taps <= 16 && d.items == 512) ||
         (g.channels == 4096 && g.taps <= 4 && d.parts == 2);
}

// Groups per compute unit by their registers and local memory; 0: not even one fits.
std::size_t resident_blocks(const KernelDesign& d, std::size_t local) {
  constexpr std::size_t kSpilled = 312, kWideSpilled = 154;  // limits that still pay, although a few values are spilled
  const std::size_t registers = block_registers(d), bytes = block_text(d).local_bytes;
  if (bytes > local) return 0;
  if (d.items == 512) return registers <= kWideSpilled ? 1 : 0;
  if (registers > kSpilled) return 0;
  return std::min(registers <= 80    ? std::size_t{3}
                  : registers <= 142 ? std::size_t{2}
                                     : std::size_t{1},
                  local / (bytes + 1024));
}

bool supports_blocks(const Device& device, const Geometry& g) {
  return g.critical() && g.polarizations == 2 && g.samples != Samples::float32 && g.block == g.channels &&
         g.channels >= 256 && g.channels <= 4096 && std::has_single_bit(g.channels) && !g.by_channel &&
         device.limits().work_group >= 256;
}

// At most 8 taps and 1024 channels.
void add_short_blocks(const Device& device, KernelDesign d, std::vector<KernelDesign>& all) {
  for (const std::size_t values : {4096, 2048}) {
    d.steps = values / d.geometry.channels;
    d.rounds = fixed_rounds(device, d.steps);
    if (block_text(d).local_bytes > local_memory(device)) continue;
    all.push_back(d);
    return;
  }
}

// Channels per work-item whose weights are kept in local memory: all, or as many as fit. The other weights come from
// the L1 cache, which shrinks as local memory grows and suffices with two groups per unit. Keeping one of two channels
// leaves the cache too small (H200, 1024x32: 0.417 of copy speed, against 0.439 with none).
std::size_t weights_in_local_memory(const KernelDesign& d, std::size_t local) {
  const std::size_t room = local / d.resident, rest = block_text(d).local_bytes + 1024;
  const std::size_t all = d.geometry.channels / d.items, each = d.geometry.taps * d.items * sizeof(float);
  const std::size_t fit = room > rest ? (room - rest) / each : 0;
  return fit >= all ? all : d.resident == 1 && all > 2 ? fit : 0;
}

// Lists groups that compute both polarizations and groups that compute one; above 1024 channels the latter first, since
// the rows of both exceed the registers. Twice as many work-items have half of the channels and registers each.
void add_long_blocks(const Device& device, KernelDesign d, std::size_t items, std::vector<KernelDesign>& all) {
  const Geometry& g = d.geometry;
  const std::size_t local = local_memory(device), transforms = 2 * items * (items / 16);
  const std::size_t first = g.channels <= 1024 ? 4 : 2;
  d.items = items;
  for (const std::size_t parts : {first, 6 - first}) {
    d.parts = parts;
    std::size_t found = 0;
    for (d.steps = 16; d.steps > 0 && found < 2; d.steps /= 2) {
      if (d.steps * parts * g.channels % transforms != 0 || (parts == 2 && d.steps % 2 != 0)) continue;
      d.local_weights = 0;
      d.resident = resident_blocks(d, local);
      if (d.resident == 0) continue;
      d.local_weights = weights_in_local_memory(d, local);
      all.push_back(d);
      if (items == 512 && d.local_weights > 0 && d.local_weights < g.channels / items) {
        all.push_back(d);
        all.back().local_weights = 0;
      }
      ++found;
    }
  }
}

// 256 times 1 to 16 channels: the raw rows of a block of spectra fit the registers.
void list_blocks(const Device& device, const Problem& problem, const Geometry& g, std::vector<KernelDesign>& all) {
  if (!supports_blocks(device, g)) return;
  KernelDesign d{.geometry = g, .fir = &kBlocksFir, .items = 256, .parts = 4};
  d.factors = factors_of(problem, g);
  const bool is_short = g.taps <= 8 && g.channels <= 1024;
  if (is_short) add_short_blocks(device, d, all);
  if (!device.limits().private_arrays_in_registers) return;  // compiling them for a CPU takes too long
  if (g.channels >= 512 && device.limits().work_group >= 512) add_long_blocks(device, d, 512, all);
  if (!is_short) add_long_blocks(device, d, 256, all);
}

}  // namespace

extern const Fir kBlocksFir{.name = "blocks",
                            .list = list_blocks,
                            .text = block_text,
                            .tables = block_tables,
                            .sum_power = sum_blocks,
                            .local_squares = block_local_squares,
                            .slower_power = slower_block_power,
                            .splits_polarizations = true};

}  // namespace ridge::filterbank::on_device
