#include <array>

#include <fmt/format.h>

#include "filterbank/variant.hpp"

namespace ridge::filterbank {
namespace {

// One line a variant. A plain table, because self-registration is dropped by linkers from static libraries.
constexpr std::array<Lister, 8> kHostVariants{
    list_host_reference,     list_host_stations, list_host_simd_polarizations, list_host_simd_channels,
    list_host_unrolled_ring, list_host_families, list_host_separate,           list_host_fused,
};

}  // namespace

std::vector<Entry> list_variants(const Device& device, const Problem& problem, const Geometry& geometry) {
  if (!device.is_host()) {
    throw Error(ErrorKind::unavailable,
                fmt::format("filterbank: there is no variant for {} yet; plan on the host", device.id()));
  }
  std::vector<Entry> entries;
  for (const Lister lister : kHostVariants) lister(problem, geometry, entries);
  return entries;
}

}  // namespace ridge::filterbank
