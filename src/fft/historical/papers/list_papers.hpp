#pragma once
#include <string>
#include <vector>

#include "fft/device/route.hpp"

namespace ridge::fft::papers {

// "burtsev", "burtsev/D", "bergach/simt(p=8,twiddles=table)": a family or one of it.
bool is_from_the_papers(const std::string& wanted);

// The routes that `wanted` names, refusals included.
void list_papers(const Device& device, const on_device::AxisProblem& problem, const std::string& wanted,
                 std::vector<on_device::Route>& routes);

}  // namespace ridge::fft::papers
