// Kernels of several candidates compiled at a time.
#pragma once
#include <vector>

#include <ridge/device.hpp>

namespace ridge {

// NVRTC takes its time, and takes it on one core: each kernel on a core of its own, into the cache on disk. Nothing on
// other back ends, and nothing for a single kernel. What does not compile is said when it is built.
void compile_together(const Device& device, std::vector<KernelSource> sources);

}  // namespace ridge
