#pragma once
#include <string>

#include "stencil/device/strip_kernel.hpp"

namespace ridge::stencil {

std::string strip_text(const StripKernel& kernel);
bool restores_rows(const StripKernel& kernel);  // the kernel takes the growth of the scaled field after each step

}  // namespace ridge::stencil
