// How the groups of a pass fit a compute unit: registers, local memory, work-items.
#pragma once
#include <cstddef>
#include <string>

#include <ridge/device.hpp>

#include "fft/device/pass/design.hpp"

namespace ridge::fft::on_device {

// Work-items with those that idle in the last sub-group.
std::size_t whole_warps(std::size_t items);

// Registers a work-item needs for its points, twiddles and addresses, as ptxas was seen to use them.
std::size_t registers_of(const PassDesign& design);

std::size_t longest_held(const PassDesign& design);  // points in a work-item's registers
std::string too_many_registers(const Device& device, const PassDesign& design, std::size_t lines);

// How a group shares the lines of a design: fills lines, resident, and keeps to what the device has. Empty, or why not.
std::string fit(const Device& device, PassDesign& design, std::size_t lines);

// Groups on a compute unit where the compiler is held to few more registers than the points take: on NVIDIA it was seen
// to manage without spilling.
std::size_t most_resident(const Device& device, const PassDesign& design);

}  // namespace ridge::fft::on_device
