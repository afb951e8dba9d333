// Estimates the registers of a pass, and the groups that fit a compute unit.
#include "fft/device/problem/occupancy.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "base/text.hpp"
#include "device/traits.hpp"
#include "fft/device/pass/exchange_layout.hpp"
#include "fft/device/pass/text/codegen.hpp"

namespace ridge::fft::on_device {
namespace {

constexpr std::size_t kWarp = 32;

// True if an exchange can be done in this many parts: each is written by whole butterflies and read by whole rounds.
bool parts_serve(const PassDesign& design) {
  const std::size_t part = design.length / design.parts;
  if (design.lines > 1 || design.length % design.parts != 0 || design.convolution()) return false;
  const std::vector<StageDesign> stages = stages_of(design);
  for (std::size_t i = 0; i + 1 < stages.size(); ++i) {
    const ExchangeLayout layout =
        exchange_layout(design, stages[i], stages[i + 1], design.float64 ? sizeof(double) : sizeof(float));
    if (part % (stages[i].before * stages[i].radix) != 0 || stages[i + 1].radix % design.parts != 0) return false;
    if (layout.period > 0 && part % layout.period != 0) return false;
  }
  return true;
}

// Register limit of a work-group; 0: unknown or irrelevant.
std::size_t register_limit(const Device& device) {
  return device.limits().registers > 0 ? device.limits().registers : device.limits().unit_registers;
}

}  // namespace

std::size_t whole_warps(std::size_t items) { return (items + kWarp - 1) / kWarp * kWarp; }

std::size_t registers_of(const PassDesign& design) {
  const std::size_t held = longest_held(design), waiting = held - held / design.parts;
  const std::size_t numbers = (2 * held + waiting) * (design.float64 ? 2 : 1);
  const bool more = design.load.factor != FactorKind::none || design.convolution();
  const std::size_t wanted = numbers + (design.float64 ? 44 : 30) + (more ? 8 : 0);
  return std::min<std::size_t>((wanted + 7) / 8 * 8, 255);
}

std::size_t longest_held(const PassDesign& design) {
  std::size_t most = 1;
  for (const std::size_t radix : design.radices) {
    const std::size_t butterflies = design.length / radix;
    most = std::max(most, radix * ((butterflies + design.threads - 1) / design.threads));
  }
  return design.mirrored() ? 2 * most : most;
}

std::string too_many_registers(const Device& device, const PassDesign& design, std::size_t lines) {
  const std::size_t items = design.threads * lines, each = registers_of(design), all = register_limit(device);
  if (all == 0 || whole_warps(items) * each <= all) return {};
  return fmt::format("needs about {} registers for each of {} work-items, a group may have {}", each, items, all);
}

std::string fit(const Device& device, PassDesign& design, std::size_t lines) {
  const Limits& limits = device.limits();
  design.lines = lines;
  const std::size_t items = design.items(), most = std::min(limits.work_group, limits.work_group_sides[0]);
  if (items > most) return fmt::format("needs work-groups of {}, the device allows {}", items, most);
  if (std::string reason = too_many_registers(device, design, lines); !reason.empty()) return reason;
  design.split = false;
  design.parts = 1;
  std::size_t local = local_bytes_of(design);
  if (local > limits.local_memory && !design.load.staged && !design.store.staged &&
      design.store.values != Values::half) {
    design.split = true;
    local = local_bytes_of(design);
    for (std::size_t parts = 2; parts <= 4 && local > limits.local_memory && !design.ahead; parts *= 2) {
      design.parts = parts;
      if (parts_serve(design) && too_many_registers(device, design, lines).empty()) local = local_bytes_of(design);
    }
    if (local > limits.local_memory) design.parts = 1;
  }
  if (local > limits.local_memory) {
    return fmt::format("needs {} of local memory, the device has {}", base::human_bytes(static_cast<double>(local)),
                       base::human_bytes(static_cast<double>(limits.local_memory)));
  }
  const std::size_t whole = whole_warps(items);
  const detail::UnitCapacity unit = detail::unit_capacity(limits);
  std::size_t resident = unit.registers / (whole * registers_of(design));
  resident = std::min({resident, unit.items / whole, unit.local_memory / (local + 1024), std::size_t{16}});
  design.resident = std::max<std::size_t>(resident, 1);
  return {};
}

std::size_t most_resident(const Device& device, const PassDesign& design) {
  constexpr std::size_t kBeside = 14;  // registers besides the points, at least
  if (register_limit(device) == 0 || design.float64 || design.convolution()) return design.resident;
  const std::size_t whole = whole_warps(design.items()), local = local_bytes_of(design);
  const detail::UnitCapacity unit = detail::unit_capacity(device.limits());
  std::size_t most = design.resident;
  while ((most + 1) * whole <= unit.items && (most + 1) * (local + 1024) <= unit.local_memory &&
         unit.registers / (whole * (most + 1)) / 8 * 8 >= 2 * longest_held(design) + kBeside && most < 16) {
    ++most;
  }
  return most;
}

}  // namespace ridge::fft::on_device
