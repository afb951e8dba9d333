// The host's caches and free memory, as the system tells them.
#pragma once
#include <cstddef>
#include <filesystem>
#include <vector>

namespace ridge::machine {

struct Cache {
  int level = 1;
  std::size_t size = 0;       // bytes of one instance
  std::size_t shared_by = 1;  // logical cores that share one
};

// Data and unified caches of the first core, nearest first. Where the system does not say (some containers and ARM
// boards), sizes that are safe on anything made in the last ten years.
std::vector<Cache> host_caches(const std::filesystem::path& folder = "/sys/devices/system/cpu/cpu0/cache");

// Bytes this process can still take without swapping, the container's limit respected; 0 where nothing says so.
std::size_t free_host_memory();

}  // namespace ridge::machine
