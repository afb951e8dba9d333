// Generates the kernels of a stage plan, in the kernel dialect.
#pragma once
#include <string>
#include <vector>

#include "papers/fft/device/stage_plan.hpp"

namespace ridge::fft::papers {

std::string kernel_name(const StageRun& run);
inline constexpr const char* kReversalKernel = "reverse";

// Bounds of loops with a barrier are literals: PoCL 3.1 miscompiles them if they are known at run time only. N and the
// first stage are arguments, and each kernel is a program of its own, so that variants and lengths share them.
KernelSource reversal_text(const StagePlan& plan);
KernelSource run_text(const StagePlan& plan, const StageRun& run);
std::vector<KernelSource> stage_texts(const StagePlan& plan);  // part 1 and every distinct run

}  // namespace ridge::fft::papers
