// The kernels of a stage plan, in the dialect: one program a plan.
#pragma once
#include <string>

#include "fft/device/papers/stage_plan.hpp"

namespace ridge::fft::papers {

std::string kernel_name(const StageRun& run);
inline constexpr const char* kReversalKernel = "reverse";

// Bounds of loops with a barrier are written out: PoCL 3.1 goes wrong where they are known at run time only. N and the
// first stage are arguments, so that lengths share kernels.
KernelSource stage_text(const StagePlan& plan);

}  // namespace ridge::fft::papers
