// The memory of this machine that the process may use.
#pragma once
#include <cstddef>

namespace ridge::base {

// Bytes of physical memory, or a lower limit of the control group or of the address space (ulimit -v).
std::size_t host_memory();

}  // namespace ridge::base
