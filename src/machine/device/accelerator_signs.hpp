// Lists the accelerators and drivers of a machine from system files, without starting a driver.
#pragma once
#include <string>
#include <vector>

namespace ridge::machine {

// Display and compute cards on the PCI bus, the NVIDIA module's version, the registered OpenCL drivers, and the
// settings of Ridgeline that hide or restrict devices. Sorted; empty if there are none.
std::vector<std::string> accelerator_signs();

}  // namespace ridge::machine
