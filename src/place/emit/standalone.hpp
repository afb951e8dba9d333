// Placed programs that do not need Ridgeline: kernels in plain CUDA or OpenCL C, and their run time as text.
#pragma once
#include <string>

namespace ridge::place::emit {

std::string in_cuda(const std::string& dialect);
std::string in_opencl(const std::string& dialect);

std::string cuda_runtime();
std::string opencl_runtime();

}  // namespace ridge::place::emit
