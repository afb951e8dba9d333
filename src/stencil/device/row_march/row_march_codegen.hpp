// Kernel text of row_march.
#pragma once
#include <string>

#include "stencil/device/row_march/row_march_kernel.hpp"

namespace ridge::stencil {

std::string row_march_text(const RowMarchKernel& kernel);
// The kernel that calls both as functions, which precede it.
std::string joined_text(const RowMarchKernel& interior, const RowMarchKernel& frame);
bool restores_rows(const RowMarchKernel& kernel);  // the kernel needs the growth of the scaled field after each step

}  // namespace ridge::stencil
