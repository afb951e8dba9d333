// FIR and transform in one kernel: the variants `fused`, `sequential` and `mapped`, and power.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "filterbank/device/device_variant.hpp"
#include "filterbank/device/fir/fir.hpp"
#include "filterbank/device/fir/power_codegen.hpp"
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

std::string name_of(const KernelDesign& d) {
  const bool all = d.local_weights * d.items == d.geometry.channels;
  return fmt::format("{}x{}x{}{}", d.items, d.streams, d.steps,
                     all                   ? ", local weights"
                     : d.local_weights > 0 ? fmt::format(", local weights of {}", d.local_weights)
                                           : "");
}

void add(const Device& device, const Problem& problem, const Geometry& g, const KernelDesign& design,
         const char* variant, Transfers transfers, double efficiency, std::vector<Entry>& entries) {
  planner::Candidate candidate{
      .variant = variant,
      .parameters = {{"fir", fmt::format("{}{}", design.fir->name, design.parts)}, {"group", name_of(design)}},
      .cost = device_cost(g, efficiency)};
  if (!design.radices.empty())
    candidate.parameters.emplace_back("radices", fmt::format("{}", fmt::join(design.radices, "*")));
  entries.push_back({std::move(candidate), [design] { return std::vector{text_of(design).source}; },
                     [device, g, design, transfers, factors = problem.bandpass] {
                       return std::make_shared<DeviceVariant>(
                           device, g, std::make_shared<FusedBank>(device, design, factors), transfers);
                     }});
}

}  // namespace

std::optional<KernelDesign> power_design(const Device& device, const Problem& problem, const Geometry& g,
                                         Products products, std::size_t times) {
  std::optional<KernelDesign> best;
  for (const KernelDesign& design : fused_designs(device, problem, g)) {
    if (best && best->fir != design.fir) break;
    auto power = as_power(design, products, times);
    if (!power) continue;
    const bool slower = design.fir->slower_power != nullptr && design.fir->slower_power(design);
    if (!best || !slower) best = std::move(power);
    if (!slower) break;
  }
  if (best) best->local_squares = local_squares(*best, local_memory(device));
  return best;
}

std::vector<KernelDesign> byte_designs(const Device& device, const Problem& problem, const Geometry& g) {
  std::vector<KernelDesign> all;
  for (const KernelDesign& design : fused_designs(device, problem, g)) {
    if (const auto bytes = as_bytes(design)) all.push_back(*bytes);
  }
  return all;
}

std::shared_ptr<const CompiledBank> fused_power(const Device& device, const Problem& problem, const Geometry& g,
                                                Products products, std::size_t times) {
  const auto design = power_design(device, problem, g, products, times);
  return design ? std::make_shared<CompiledBank>(device, *design, problem.bandpass) : nullptr;
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
    add(device, problem, g, design, "fused", Transfers::overlapped, efficiency * design.fir->efficiency, entries);
    efficiency *= 0.98;
  }
  add(device, problem, g, all.front(), "sequential", Transfers::sequential, 0.1, entries);
  add(device, problem, g, all.front(), "mapped", Transfers::mapped, 0.05, entries);
}

}  // namespace ridge::filterbank::on_device
