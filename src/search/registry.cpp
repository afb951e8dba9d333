// All variants of dedispersion, in the order in which they are listed.
#include "search/variant.hpp"

namespace ridge::search {

std::vector<std::int32_t> nearest_delays(const Layout& layout, std::size_t trial) {
  std::vector<std::int32_t> delays(layout.channels);
  for (std::size_t c = 0; c < layout.channels; ++c) delays[c] = layout.nearest(trial, c);
  return delays;
}

// One line per variant.
// clang-format off
std::vector<Entry> list_variants(const Device& device, const Layout& layout) {
  std::vector<Entry> entries;
  const auto list = [&](Lister& lister) { lister(device, layout, entries); };
  if (device.is_host()) {
    Lister list_host_brute_force; list(list_host_brute_force);
    Lister list_host_tree; list(list_host_tree);
    Lister list_host_fourier; list(list_host_fourier);
  } else {
    Lister list_device_brute_force; list(list_device_brute_force);
    Lister list_device_brute_force_matrix; list(list_device_brute_force_matrix);
    Lister list_device_tree; list(list_device_tree);
    Lister list_device_fourier; list(list_device_fourier);
  }
  for (Entry& entry : entries) {
    if (layout.exact && entry.candidate.variant == "tree" && entry.candidate.refusal.empty())
      entry.candidate.refusal = "its delays are off by about one sample: the problem needs exact ones";
  }
  return entries;
}
// clang-format on

}  // namespace ridge::search
