// Registry of the transpose variants.
#include "transpose/variant.hpp"

namespace ridge::transpose {

// One line per variant. A plain list, because linkers drop self-registration from static libraries.
// clang-format off
std::vector<Entry> list_variants(const Device& device, const Layout& layout) {
  std::vector<Entry> entries;
  const auto list = [&](Lister& lister) { lister(device, layout, entries); };
  if (device.is_host()) {
    Lister list_host_naive; list(list_host_naive);
    Lister list_host_cache_blocked; list(list_host_cache_blocked);
    Lister list_host_simd; list(list_host_simd);
    Lister list_host_non_temporal; list(list_host_non_temporal);
  } else {
    Lister list_device_naive; list(list_device_naive);
    Lister list_device_tile_padded; list(list_device_tile_padded);
    Lister list_device_tile_vectorized; list(list_device_tile_vectorized);
  }
  return entries;
}
// clang-format on

}  // namespace ridge::transpose
