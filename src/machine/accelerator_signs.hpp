// What accelerators and drivers a machine has, as far as its files tell without starting any of them.
#pragma once
#include <string>
#include <vector>

namespace ridge::machine {

// Display and compute cards on the PCI bus, the NVIDIA module's version, the OpenCL drivers registered, and the
// settings of Ridgeline that hide or shrink devices. Sorted; empty where there is nothing.
std::vector<std::string> accelerator_signs();

}  // namespace ridge::machine
