#include <array>

#include "filterbank/variant.hpp"

namespace ridge::filterbank {
namespace {

// One line a variant. A plain table, because self-registration is dropped by linkers from static libraries.
constexpr std::array<Lister, 8> kHostVariants{
    list_host_reference,     list_host_stations, list_host_simd_polarizations, list_host_simd_channels,
    list_host_unrolled_ring, list_host_families, list_host_separate,           list_host_fused,
};

}  // namespace

void Variant::enqueue(Queue&, const Resident&, const Weights&, const ResidentDelays&) const {
  throw Error(ErrorKind::invalid_argument, "filterbank: buffers of a device were given to a plan for the host");
}

std::vector<Entry> list_variants(const Device& device, const Problem& problem, const Geometry& geometry) {
  std::vector<Entry> entries;
  if (!device.is_host()) {
    on_device::list_fused(device, problem, geometry, entries);
    on_device::list_separate(device, problem, geometry, entries);
    return entries;
  }
  for (const Lister lister : kHostVariants) lister(problem, geometry, entries);
  return entries;
}

}  // namespace ridge::filterbank
