// A pass as a step of a route.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "fft/device/step.hpp"

namespace ridge::fft::on_device {

std::shared_ptr<const StepDesign> pass_step(PassDesign design);

// The design of a pass step, or nullptr for other steps.
const PassDesign* pass_of(const Step& step);

// "16*16*16", for names.
std::string radices_text(const PassDesign& design);

// Factor tables of a step in the order of the kernel's arguments: load, then store.
std::vector<Buffer> uploaded_factors(const Device& device, bool float64, const Step& step);

// Concatenated tables of the passes of one kernel.
Buffer uploaded_tables(const Device& device, std::span<const PassDesign* const> designs);

}  // namespace ridge::fft::on_device
