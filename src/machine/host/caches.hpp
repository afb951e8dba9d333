// The host's caches and free memory, as the system reports them.
#pragma once
#include <cstddef>
#include <filesystem>
#include <vector>

namespace ridge::machine {

struct Cache {
  int level = 1;
  std::size_t size = 0;       // bytes of one instance
  std::size_t shared_by = 1;  // logical cores that share one instance
};

// Data and unified caches of the first core, smallest first. If the system reports none (some containers and ARM
// boards), sizes that any processor of the last ten years has.
std::vector<Cache> host_caches(const std::filesystem::path& folder = "/sys/devices/system/cpu/cpu0/cache");

// Bytes that this process can allocate without swapping, within the container's limit; 0 if unknown.
std::size_t free_host_memory();

}  // namespace ridge::machine
