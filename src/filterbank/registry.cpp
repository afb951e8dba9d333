// All variants of the filter bank, in the order in which they are listed.
#include "filterbank/variant.hpp"

namespace ridge::filterbank {

void Variant::enqueue(Queue&, const Resident&, const Weights&, const ResidentDelays&) const {
  throw Error(ErrorKind::invalid_argument,
              "filterbank: this plan runs on the host: device buffers need a plan for their device");
}

// One line per variant. This is an explicit list because linkers drop self-registering objects from static libraries.
// clang-format off
namespace on_device { Lister list_all; }

std::vector<Entry> list_variants(const Device& device, const Problem& problem, const Geometry& geometry) {
  std::vector<Entry> entries;
  const auto list = [&](Lister& lister) { lister(device, problem, geometry, entries); };
  if (device.is_host()) {
    Lister list_host_reference; list(list_host_reference);
    Lister list_host_stations; list(list_host_stations);
    Lister list_host_simd_polarizations; list(list_host_simd_polarizations);
    Lister list_host_simd_channels; list(list_host_simd_channels);
    Lister list_host_unrolled_ring; list(list_host_unrolled_ring);
    Lister list_host_families; list(list_host_families);
    Lister list_host_separate; list(list_host_separate);
    Lister list_host_fused; list(list_host_fused);
  } else {
    list(on_device::list_all);
  }
  return entries;
}
// clang-format on

}  // namespace ridge::filterbank
