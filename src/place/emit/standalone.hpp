// Placed programs without Ridgeline: kernels in plain CUDA or OpenCL C, and the run time they stand on as text.
#pragma once
#include <string>

namespace ridge::place::emit {

std::string in_cuda(const std::string& dialect);
std::string in_opencl(const std::string& dialect);

std::string cuda_runtime();
std::string opencl_runtime();

}  // namespace ridge::place::emit
