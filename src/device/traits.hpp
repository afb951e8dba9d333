// Properties that follow from a device's architecture: the only place that knows them. Other code reads the fields of
// Limits.
#pragma once
#include <cstddef>

#include <ridge/device.hpp>

namespace ridge::detail {

// Fills in what follows from an NVIDIA architecture number (90 for sm_90), because OpenCL has no query for most of it.
// Clusters and tensor maps exist in CUDA only.
void describe_architecture(int architecture, Backend backend, Limits& limits);

// True for NVIDIA: inline PTX and some OpenCL queries are specific to it.
bool is_nvidia(const DeviceInfo& info);

// Called after an override of the architecture: removes the features that devices of the older architecture lack.
void restrict_to_architecture(Limits& limits);

// True if warpgroups multiply matrices in local memory (wgmma): one architecture, CUDA only.
bool has_warp_group_products(const Limits& limits);

// Resources that a compute unit shares among its resident groups; values of a large GPU if the device does not report
// them.
struct UnitCapacity {
  std::size_t registers = 0, items = 0, local_memory = 0;
};
UnitCapacity unit_capacity(const Limits& limits);

}  // namespace ridge::detail
