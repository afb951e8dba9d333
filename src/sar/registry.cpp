// Selects the migration step for a device.
#include "sar/variant.hpp"

namespace ridge::sar {

// One line per kind of device; the line also declares its factory.
// clang-format off
std::unique_ptr<const Migration> make_migration(const Device& device, const Problem& problem, const Tables& tables) {
  const auto make = [&](MakeMigration& one) { return one(device, problem, tables); };
  if (device.is_host()) { MakeMigration host_migration; return make(host_migration); }
  MakeMigration device_migration; return make(device_migration);
}

}  // namespace ridge::sar
