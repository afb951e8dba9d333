// An axis transformed, every value times a factor that a function of the caller's gives, and transformed back, in
// place: one kernel where the lines fit into a work-group side by side, else three.
#pragma once
#include <memory>
#include <string>

#include "fft/device/compiled_route.hpp"

namespace ridge::fft::on_device {

struct SpectrumFilter {
  std::string function = {};  // PassDesign::filter_function
  Buffer table = {};
  Address line = {};  // of a line, in the problem's digits; `point` is not used
};

// Null, and why, where the length does not allow it. The problem is complex and in place; its scale is applied once.
std::shared_ptr<const CompiledRoute> filtered_axis(const Device& device, const AxisProblem& problem,
                                                   const SpectrumFilter& filter, std::string& refusal);

}  // namespace ridge::fft::on_device
