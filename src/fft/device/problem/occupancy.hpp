// Occupancy of a compute unit by the work-groups of a pass: registers, local memory, work-items.
#pragma once
#include <cstddef>
#include <string>

#include <ridge/device.hpp>

#include "fft/device/pass/design.hpp"

namespace ridge::fft::on_device {

// Work-items rounded up to whole sub-groups.
std::size_t whole_warps(std::size_t items);

// Estimated registers per work-item for points, twiddles and addresses, from ptxas reports.
std::size_t registers_of(const PassDesign& design);

std::size_t longest_held(const PassDesign& design);  // points in a work-item's registers
std::string too_many_registers(const Device& device, const PassDesign& design, std::size_t lines);

// Distributes the lines of a design over a group: sets lines and resident within the device's limits. Returns the
// reason if impossible, else an empty string.
std::string fit(const Device& device, PassDesign& design, std::size_t lines);

// Groups per compute unit if the compiler is limited to few registers beyond the points; NVIDIA's compiler was seen to
// manage without spilling.
std::size_t most_resident(const Device& device, const PassDesign& design);

}  // namespace ridge::fft::on_device
