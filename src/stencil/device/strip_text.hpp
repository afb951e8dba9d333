#pragma once
#include <string>

#include "stencil/device/strip_kernel.hpp"

namespace ridge::stencil {

std::string strip_text(const StripKernel& kernel);
// The kernel that runs both as functions, which stand before it.
std::string joined_text(const StripKernel& interior, const StripKernel& frame);
bool restores_rows(const StripKernel& kernel);  // the kernel takes the growth of the scaled field after each step

}  // namespace ridge::stencil
