// Lists the device variants: the kernel designs for a problem, with their parameters and refusals.
#include <algorithm>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filterbank/device/device_variant.hpp"
#include "filterbank/device/fir/lines_codegen.hpp"
#include "filterbank/device/fir/matrix_weights.hpp"
#include "filterbank/device/separate.hpp"

namespace ridge::filterbank::on_device {
namespace {

class FusedBank final : public DeviceBank {
 public:
  FusedBank(const Device& device, const KernelDesign& design, std::span<const std::complex<float>> factors)
      : bank_(device, design, factors) {}
  std::shared_ptr<const DeviceWeights> prepare(std::span<const double> prototype) const override {
    return bank_.prepare(prototype);
  }
  void enqueue(Queue& queue, const Stretch& stretch, const DeviceWeights& weights) const override {
    bank_.enqueue(queue, stretch, weights);
  }

 private:
  CompiledBank bank_;
};

// PoCL 3.1 miscompiles a barrier within a loop whose end is not a compile-time constant.
std::size_t fixed_rounds(const Device& device, std::size_t period) {
  if (device.limits().private_arrays_in_registers) return 0;
  return std::max<std::size_t>(1, 64 / period);
}

// Local memory that one kernel may use: NVIDIA's OpenCL allows 48 KiB, whatever it reports.
std::size_t local_memory(const Device& device) {
  return device.info().backend == Backend::opencl ? std::min<std::size_t>(device.limits().local_memory, 48 << 10)
                                                  : device.limits().local_memory;
}

std::string name_of(const KernelDesign& d) {
  const bool all = d.local_weights * d.items == d.geometry.channels;
  return fmt::format("{}x{}x{}{}", d.items, d.streams, d.steps,
                     all                   ? ", local weights"
                     : d.local_weights > 0 ? fmt::format(", local weights of {}", d.local_weights)
                                           : "");
}

}  // namespace

Factors factors_of(const Problem& problem, const Geometry& g) {
  if (problem.bandpass.empty()) return Factors::none;
  return problem.bandpass.size() == g.channels && g.spectrum_size() != g.channels ? Factors::channels : Factors::all;
}

// Designs of a FIR, with or without a transform, that fit the device, the most promising first.
std::vector<KernelDesign> designs(const Device& device, const Problem& problem, const Geometry& g, Fir fir,
                                  bool transform, std::size_t parts) {
  const std::size_t largest_radix = device.limits().private_arrays_in_registers ? 16 : 8;
  std::vector<KernelDesign> found;
  KernelDesign d{.geometry = g, .fir = fir, .transform = transform, .parts = parts};
  d.factors = transform ? factors_of(problem, g) : Factors::none;
  if (transform) {
    d.radices = radices_of(g.channels, largest_radix);
    if (d.radices.empty()) return {};
  }
  const std::size_t most = std::min<std::size_t>(device.limits().work_group, 256);
  const std::size_t split = 2 * g.polarizations / parts;
  d.items = std::min(most, std::bit_ceil(std::max<std::size_t>(g.channels * split, 32)));
  // Several stations where one does not occupy all work-items.
  d.streams = std::clamp<std::size_t>(d.items / (g.channels * split), 1, g.stations);
  // Without a transform a station's channels may be divided among groups, one channel per work-item.
  if (!transform) d.channel_groups = std::max<std::size_t>(1, (g.channels * split + d.items - 1) / d.items);
  const std::size_t local = local_memory(device);
  for (const std::size_t target : {std::size_t{4096}, std::size_t{2048}, std::size_t{8192}}) {
    const std::size_t values = d.streams * g.channels * g.polarizations / d.channel_groups;
    std::size_t steps = std::max<std::size_t>(1, target / values);
    if (fir == Fir::registers) {
      // The delay line repeats after a multiple of the taps: the steps divide them or are a multiple.
      steps = std::min<std::size_t>(steps, 32);
      while (steps > 1 && g.taps % steps != 0 && (steps % g.taps != 0 || steps > 2 * g.taps)) --steps;
    } else {
      steps = std::min<std::size_t>(steps, 16);
    }
    d.steps = steps;
    d.rounds = fixed_rounds(device, d.period());
    const std::size_t bytes = transform ? (d.lines() * (padded(g.channels) + 2) + table_size(d.radices)) * 8 : 0;
    if (bytes > local) continue;
    const bool there =
        std::any_of(found.begin(), found.end(), [&](const KernelDesign& one) { return one.steps == d.steps; });
    if (!there) found.push_back(d);
  }
  return found;
}

namespace {

void add(const Device& device, const Problem& problem, const Geometry& g, const KernelDesign& design,
         const char* variant, Transfers transfers, double efficiency, std::vector<Entry>& entries) {
  planner::Candidate candidate{
      .variant = variant,
      .parameters = {{"fir", fmt::format("{}{}", to_string(design.fir), design.parts)}, {"group", name_of(design)}},
      .cost = device_cost(g, efficiency)};
  if (!design.radices.empty())
    candidate.parameters.emplace_back("radices", fmt::format("{}", fmt::join(design.radices, "*")));
  entries.push_back({std::move(candidate), [design] { return std::vector{text_of(design).source}; },
                     [device, g, design, transfers, factors = problem.bandpass] {
                       return std::make_shared<DeviceVariant>(
                           device, g, std::make_shared<FusedBank>(device, design, factors), transfers);
                     }});
}

void refuse(const char* variant, const std::string& why, std::vector<Entry>& entries) {
  entries.push_back({.candidate = {.variant = variant, .refusal = why}});
}

// Registers per work-item for the delay line and the weights.
std::size_t held_numbers(const KernelDesign& d) {
  return d.units_each() * (d.geometry.taps * (d.parts + 1) + d.steps * d.parts / 4);
}

// Tests run `matrix` also on devices without matrix units, which emulate them.
bool supports_matrix(const Geometry& g) {
  return g.critical() && g.polarizations == 2 && g.samples != Samples::float32 && g.block == g.channels &&
         g.channels % 32 == 0 && g.channels <= 256 && g.taps >= 2 && g.taps <= 64 && !g.by_channel;
}

struct GroupSize {
  std::size_t items, steps;
};

// Adds the first of the sizes that fits the device.
void add_matrix(const Device& device, const Problem& problem, const Geometry& g, Fir fir,
                const std::vector<GroupSize>& sizes, std::vector<KernelDesign>& all) {
  KernelDesign d{.geometry = g, .fir = fir, .parts = 4};
  d.factors = factors_of(problem, g);
  for (const GroupSize& size : sizes) {
    d.items = size.items;
    d.steps = size.steps;
    d.rounds = fixed_rounds(device, d.steps);
    const std::size_t bytes = text_of(d).local_bytes, local = device.limits().local_memory;
    if (bytes > local) continue;
    d.resident = std::clamp<std::size_t>(local / (bytes + 1024), 1, std::max<std::size_t>(1, 512 / d.items));
    all.push_back(d);
    return;
  }
}

void add_matrix_whole(const Device& device, const Problem& problem, const Geometry& g, std::vector<KernelDesign>& all) {
  if (!supports_matrix(g) || g.delayed) return;
  const std::size_t warps = g.channels / 16;  // per 32 spectra
  std::vector<GroupSize> sizes;
  for (std::size_t tiles = std::max<std::size_t>(1, 16 / warps); tiles > 0; tiles /= 2) {
    sizes.push_back({32 * warps * tiles, 32 * tiles});
  }
  add_matrix(device, problem, g, Fir::matrix, sizes, all);
}

void add_warp_specialized(const Device& device, const Problem& problem, const Geometry& g,
                          std::vector<KernelDesign>& all) {
  if (!supports_matrix(g) || g.delayed || (g.channels != 64 && g.channels != 128 && g.channels != 256)) return;
  if (device.info().backend != Backend::cuda) return;
  add_matrix(device, problem, g, Fir::warp_specialized, {{512, 8192 / g.channels}}, all);
}

void add_stacked(const Device& device, const Problem& problem, const Geometry& g, std::vector<KernelDesign>& all) {
  const bool serves = g.critical() && g.polarizations == 2 && g.samples == Samples::int8 && g.block == g.channels &&
                      g.channels == 512 && g.taps > 8 && g.taps <= 16 && !g.by_channel && !g.delayed;
  if (!serves || device.info().backend != Backend::cuda) return;
  add_matrix(device, problem, g, Fir::stacked, {{512, 16}}, all);
}

void add_alternating(const Device& device, const Problem& problem, const Geometry& g, std::vector<KernelDesign>& all) {
  const bool serves = g.critical() && g.polarizations == 2 && g.samples == Samples::int8 && g.block == g.channels &&
                      (g.channels == 512 || g.channels == 1024) && g.taps > 8 && g.taps <= 16 && !g.by_channel &&
                      !g.delayed;
  if (!serves || device.info().backend != Backend::cuda || device.limits().architecture < 90) return;
  add_matrix(device, problem, g, Fir::alternating, {{512, 8192 / g.channels}}, all);
}

// Registers per work-item of `blocks`: raw rows, sums of a block of spectra, weights.
std::size_t block_registers(const KernelDesign& d) {
  const std::size_t each = d.geometry.channels / d.items, taps = d.geometry.taps;
  const bool pairs = d.parts == 2 && d.geometry.samples == Samples::int8;
  return each * ((pairs ? taps / 2 : taps - 1) + d.parts * d.steps) + (pairs ? d.steps : each * d.steps) + taps + 8;
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

// Groups of both polarizations first, or of one where the rows of both exceed the registers; the longest blocks first.
// With twice as many work-items each has half of the channels and needs half of the registers.
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
void add_blocks(const Device& device, const Problem& problem, const Geometry& g, std::vector<KernelDesign>& all) {
  if (!supports_blocks(device, g)) return;
  KernelDesign d{.geometry = g, .fir = Fir::blocks, .items = 256, .parts = 4};
  d.factors = factors_of(problem, g);
  const bool is_short = g.taps <= 8 && g.channels <= 1024;
  if (is_short) add_short_blocks(device, d, all);
  if (!device.limits().private_arrays_in_registers) return;  // compiling them for a CPU takes too long
  if (g.channels >= 512 && device.limits().work_group >= 512) add_long_blocks(device, d, 512, all);
  if (!is_short) add_long_blocks(device, d, 256, all);
}

std::vector<KernelDesign> fused_designs(const Device& device, const Problem& problem, const Geometry& g) {
  std::vector<KernelDesign> all;
  add_alternating(device, problem, g, all);
  if (device.limits().matrix_units) {
    add_warp_specialized(device, problem, g, all);
    add_matrix_whole(device, problem, g, all);
    add_stacked(device, problem, g, all);
  }
  add_blocks(device, problem, g, all);
  if (g.critical()) {
    for (std::size_t parts = 2 * g.polarizations; parts >= 2; parts /= 2) {
      for (KernelDesign& d : designs(device, problem, g, Fir::registers, true, parts)) {
        if (held_numbers(d) <= 104 && d.period() <= 64) all.push_back(std::move(d));
      }
    }
  }
  for (KernelDesign& d : designs(device, problem, g, Fir::gather, true, 2 * g.polarizations)) {
    d.resident = 3;
    all.push_back(std::move(d));
  }
  return all;
}

// The branches between FIR and transform are in Order::time for any output order.
KernelDesign separate_design(const Device& device, const Problem& problem, Geometry g, Fir fir, std::size_t parts) {
  g.by_channel = false;
  g.times = 1;
  KernelDesign design = designs(device, problem, g, fir, false, parts).front();
  if (fir == Fir::registers) design.resident = held_numbers(design) > 80 ? 1 : held_numbers(design) > 40 ? 2 : 4;
  return design;
}

void add_separate(const Device& device, const Problem& problem, const Geometry& g, Fir fir, std::size_t parts,
                  bool one_each, const char* variant, double efficiency, std::vector<Entry>& entries) {
  KernelDesign design = separate_design(device, problem, g, fir, parts);
  if (one_each) {
    design.steps = 1;
    design.rounds = 1;
    design.constant_weights = g.channels * g.taps * sizeof(float) <= device.limits().constant_memory;
  }
  planner::Candidate candidate{.variant = variant, .cost = device_cost(g, efficiency, 2, 3)};
  entries.push_back({std::move(candidate), [design, problem] { return SeparateBank::kernels(design, problem); },
                     [device, problem, g, design, one_each] {
                       return std::make_shared<DeviceVariant>(
                           device, g, std::make_shared<SeparateBank>(device, design, problem, one_each),
                           Transfers::overlapped);
                     }});
}

}  // namespace

std::shared_ptr<const CompiledBank> fir_alone(const Device& device, const Problem& problem, const Geometry& g) {
  const bool registers = g.critical() && g.taps <= 64;
  const std::size_t parts = g.polarizations == 2 && (g.taps <= 16 || !registers) ? 4 : 2;
  return std::make_shared<CompiledBank>(
      device, separate_design(device, problem, g, registers ? Fir::registers : Fir::gather, parts),
      std::span<const std::complex<float>>());
}

std::optional<KernelDesign> power_design(const Device& device, const Problem& problem, const Geometry& g,
                                         Products products, std::size_t times) {
  for (const KernelDesign& design : fused_designs(device, problem, g)) {
    if (const auto power = as_power(design, products, times)) return power;
  }
  return {};
}

std::shared_ptr<const CompiledBank> fused_power(const Device& device, const Problem& problem, const Geometry& g,
                                                Products products, std::size_t times) {
  const auto design = power_design(device, problem, g, products, times);
  return design ? std::make_shared<CompiledBank>(device, *design, problem.bandpass) : nullptr;
}

void list_separate(const Device& device, const Problem& problem, const Geometry& g, std::vector<Entry>& entries) {
  const std::size_t all = 2 * g.polarizations;
  // CPUs lose their cache contents between the kernels and keep delay lines in memory: measured at 1/20 of fused.
  const double share = device.limits().private_arrays_in_registers ? 1 : 0.05;
  add_separate(device, problem, g, Fir::gather, 2, true, "reference", 0.01 * share, entries);
  add_separate(device, problem, g, Fir::gather, all, false, "gathered", 0.3 * share, entries);
  const std::string why =
      !g.critical()
          ? fmt::format(
                "needs critical sampling, got {} samples per spectrum for {} channels; fused and gathered oversample",
                g.hop, g.channels)
      : g.taps > 64 ? fmt::format("needs at most 64 taps for a delay line in registers, got {}", g.taps)
                    : std::string();
  if (!why.empty()) {
    refuse("batched", why, entries);
    refuse("vectorized", why, entries);
    return;
  }
  add_separate(device, problem, g, Fir::registers, 2, false, "batched", 0.5 * share, entries);
  if (g.polarizations == 2 && g.taps <= 32) {
    add_separate(device, problem, g, Fir::registers, 4, false, "vectorized", 0.55 * share, entries);
  } else {
    refuse("vectorized",
           g.polarizations == 1
               ? std::string("needs two polarizations, got 1")
               : fmt::format("needs at most 32 taps for the delay lines of both polarizations in registers, got {}",
                             g.taps),
           entries);
  }
}

void list_fused(const Device& device, const Problem& problem, const Geometry& g, std::vector<Entry>& entries) {
  const std::vector<KernelDesign> all = fused_designs(device, problem, g);
  if (all.empty()) {
    for (const char* variant : {"fused", "sequential", "mapped"}) {
      refuse(
          variant,
          fmt::format(
              "{} channels do not fit one kernel: it needs prime factors up to 31 and at most {} KiB of local memory",
              g.channels, device.limits().local_memory >> 10),
          entries);
    }
    return;
  }
  double efficiency = 0.85;
  for (const KernelDesign& design : all) {
    const double share = design.fir == Fir::gather ? 0.3 : 1.0;
    add(device, problem, g, design, "fused", Transfers::overlapped, efficiency * share, entries);
    efficiency *= 0.98;
  }
  add(device, problem, g, all.front(), "sequential", Transfers::sequential, 0.1, entries);
  add(device, problem, g, all.front(), "mapped", Transfers::mapped, 0.05, entries);
}

}  // namespace ridge::filterbank::on_device
