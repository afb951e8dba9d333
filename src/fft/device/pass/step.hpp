// A pass as a step of a route.
#pragma once
#include <memory>
#include <span>
#include <vector>

#include "fft/device/step.hpp"

namespace ridge::fft::on_device {

std::shared_ptr<const StepDesign> pass_step(PassDesign design);

// The design of a step that is a pass; nullptr of others.
const PassDesign* pass_of(const Step& step);

// "16*16*16", for names.
std::string radices_text(const PassDesign& design);

// Tables of a step's factors, as a kernel has them: those of its load, then those of its store.
std::vector<Buffer> uploaded_factors(const Device& device, bool float64, const Step& step);

// The tables of passes that are one kernel, one after the other.
Buffer uploaded_tables(const Device& device, std::span<const PassDesign* const> designs);

}  // namespace ridge::fft::on_device
