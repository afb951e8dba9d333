#include <array>

#include "transpose/variant.hpp"

namespace ridge::transpose {
namespace {

// One line a variant. A plain table, because self-registration is dropped by linkers from static libraries.
constexpr std::array<Lister, 4> kHostVariants{
    list_host_naive,
    list_host_cache_blocked,
    list_host_simd,
    list_host_non_temporal,
};
constexpr std::array<Lister, 3> kDeviceVariants{
    list_device_naive,
    list_device_tile_padded,
    list_device_tile_vectorized,
};

}  // namespace

std::vector<Entry> list_variants(const Device& device, const Layout& layout) {
  std::vector<Entry> entries;
  const auto list = [&](const auto& listers) {
    for (const Lister lister : listers) lister(device, layout, entries);
  };
  if (device.is_host()) {
    list(kHostVariants);
  } else {
    list(kDeviceVariants);
  }
  return entries;
}

}  // namespace ridge::transpose
