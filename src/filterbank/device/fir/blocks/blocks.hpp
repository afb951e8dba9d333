// Kernel text of the `blocks` FIR.
#pragma once
#include <cstddef>

#include "filterbank/device/design.hpp"

namespace ridge::filterbank::on_device {

// 256 times 1, 2, 4, 8 or 16 channels, two polarizations, critical sampling, whole rows per block, Order::time.
KernelText block_text(const KernelDesign& design);
// Power rows per unit.
std::size_t block_power_rows(const KernelDesign& design);
// True if a work-item keeps separate sums of both polarizations.
bool sums_both_polarizations(const KernelDesign& design);

}  // namespace ridge::filterbank::on_device
