// What a device has by its architecture: the one place that knows it. Everybody else reads the fields of Limits.
#pragma once
#include <cstddef>

#include <ridge/device.hpp>

namespace ridge::detail {

// Fills in what follows from an NVIDIA architecture number (90 for sm_90) where nobody could be asked: OpenCL has no
// question for most of it. Clusters and tensor maps are words of CUDA only.
void describe_architecture(int architecture, Backend backend, Limits& limits);

// PTX in kernels and some questions of OpenCL are its own.
bool is_nvidia(const DeviceInfo& info);

// After an override: an older architecture has no more than it had.
void restrict_to_architecture(Limits& limits);

// Four warps multiply matrices that lie in local memory (wgmma): one architecture has these instructions, and CUDA.
bool has_warp_group_products(const Limits& limits);

// What a compute unit has to share among its resident groups; where the device does not say, what a large GPU has.
struct UnitCapacity {
  std::size_t registers = 0, items = 0, local_memory = 0;
};
UnitCapacity unit_capacity(const Limits& limits);

}  // namespace ridge::detail
