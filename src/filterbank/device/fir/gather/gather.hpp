// The `gather` FIR without a transform.
#pragma once
#include "filterbank/device/fir/fir.hpp"

namespace ridge::filterbank::on_device {

// `parts`: real numbers of a sample per work-item.
KernelDesign gather_alone(const Device& device, const Problem& problem, const Geometry& geometry, std::size_t parts);

}  // namespace ridge::filterbank::on_device
