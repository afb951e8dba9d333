#include "sar/variant.hpp"

namespace ridge::sar {

// A line a kind of device, which declares its maker too.
// clang-format off
std::unique_ptr<const Migration> make_migration(const Device& device, const Problem& problem, const Tables& tables) {
  const auto make = [&](MakeMigration& one) { return one(device, problem, tables); };
  if (device.is_host()) { MakeMigration host_migration; return make(host_migration); }
  MakeMigration device_migration; return make(device_migration);
}

}  // namespace ridge::sar
