#include "sar/variant.hpp"

namespace ridge::sar {

std::unique_ptr<const Migration> make_migration(const Device& device, const Problem& problem, const Tables& tables) {
  return device.is_host() ? host_migration(problem, tables) : device_migration(device, problem, tables);
}

}  // namespace ridge::sar
