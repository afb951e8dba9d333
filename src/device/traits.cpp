// Derives registers, matrix units, clusters and cache sizes from a device's architecture.
#include "device/traits.hpp"

namespace ridge::detail {
namespace {

constexpr int kAmpere = 80, kHopper = 90;
constexpr std::size_t kUnitRegisters = 65536;  // of all architectures so far

// Resident work-items and local memory per multiprocessor, from the table of compute capabilities in the CUDA
// programming guide.
struct Unit {
  int architecture;
  std::size_t items, local_kib;
};
constexpr Unit kUnits[] = {
    {50, 2048, 64},  {52, 2048, 96},  {53, 2048, 64},   {60, 2048, 64},   {61, 2048, 96},   {62, 2048, 64},
    {70, 2048, 96},  {72, 2048, 96},  {75, 1024, 64},   {80, 2048, 164},  {86, 1536, 100},  {87, 1536, 164},
    {89, 1536, 100}, {90, 2048, 228}, {100, 2048, 228}, {103, 2048, 228}, {120, 1536, 100}, {121, 1536, 100},
};
constexpr Unit kLarge{kHopper, 2048, 228};

}  // namespace

void describe_architecture(int architecture, Backend backend, Limits& limits) {
  limits.architecture = architecture;
  limits.matrix_units = limits.asynchronous_copies = architecture >= kAmpere;
  limits.clusters = limits.tensor_maps = architecture >= kHopper && backend == Backend::cuda;
  limits.unit_registers = kUnitRegisters;
  for (const Unit& unit : kUnits) {
    if (unit.architecture != architecture) continue;
    limits.items_per_unit = unit.items;
    limits.unit_local_memory = unit.local_kib * 1024;
  }
}

bool is_nvidia(const DeviceInfo& info) { return info.vendor.find("NVIDIA") != std::string::npos; }

void restrict_to_architecture(Limits& limits) {
  if (limits.architecture < kAmpere) limits.matrix_units = limits.asynchronous_copies = false;
  if (limits.architecture < kHopper) limits.clusters = limits.tensor_maps = false;
}

bool has_warp_group_products(const Limits& limits) {
  return limits.architecture == kHopper && limits.tensor_maps && limits.matrix_units;
}

UnitCapacity unit_capacity(const Limits& limits) {
  return {.registers = limits.unit_registers != 0 ? limits.unit_registers : kUnitRegisters,
          .items = limits.items_per_unit != 0 ? limits.items_per_unit : kLarge.items,
          .local_memory = limits.unit_local_memory != 0 ? limits.unit_local_memory : kLarge.local_kib * 1024};
}

}  // namespace ridge::detail
