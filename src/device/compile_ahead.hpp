// Compiles the kernels of several candidates concurrently.
#pragma once
#include <vector>

#include <ridge/device.hpp>

namespace ridge {

// NVRTC is slow and single-threaded: each kernel is compiled on its own core, into the cache on disk. Does nothing on
// other back ends or for a single kernel. Compile errors are reported when the kernel is built.
void compile_together(const Device& device, std::vector<KernelSource> sources);

}  // namespace ridge
