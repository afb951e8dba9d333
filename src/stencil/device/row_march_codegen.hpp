#pragma once
#include <string>

#include "stencil/device/row_march_kernel.hpp"

namespace ridge::stencil {

std::string row_march_text(const RowMarchKernel& kernel);
// The kernel that runs both as functions, which stand before it.
std::string joined_text(const RowMarchKernel& interior, const RowMarchKernel& frame);
bool restores_rows(const RowMarchKernel& kernel);  // the kernel takes the growth of the scaled field after each step

}  // namespace ridge::stencil
