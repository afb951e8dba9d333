// The least of the memory of this machine, the limit of its control group, and the limit of the process.
#include "base/host_memory.hpp"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <fstream>

namespace ridge::base {

std::size_t host_memory() {
  static const std::size_t bytes = [] {
    const auto pages = static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_PHYS_PAGES)));
    std::size_t least = pages * static_cast<std::size_t>(std::max(1L, ::sysconf(_SC_PAGESIZE)));
    std::uint64_t limit = 0;
    std::ifstream group("/sys/fs/cgroup/memory.max");  // "max": no limit
    if (group >> limit && limit > 0) least = std::min<std::size_t>(least, limit);
    rlimit space{};
    if (::getrlimit(RLIMIT_AS, &space) == 0 && space.rlim_cur != RLIM_INFINITY)
      least = std::min<std::size_t>(least, space.rlim_cur);
    return least;
  }();
  return bytes;
}

}  // namespace ridge::base
