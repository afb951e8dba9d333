// Registry of the variants of the migration step.
#include "sar/variant.hpp"

namespace ridge::sar {

// One line per variant; the line also declares its lister.
// clang-format off
std::vector<Entry> list_migrations(const Device& device, const Problem& problem, const Tables& tables) {
  std::vector<Entry> entries;
  const auto list = [&](Lister& lister) { lister(device, problem, tables, entries); };
  if (device.is_host()) {
    Lister list_host_taps; list(list_host_taps);
    Lister list_host_chirp_z; list(list_host_chirp_z);
    Lister list_host_phase; list(list_host_phase);
  } else {
    Lister list_device_taps; list(list_device_taps);
  }
  return entries;
}
// clang-format on

}  // namespace ridge::sar
