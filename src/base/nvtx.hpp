// Ranges for NVIDIA's tools (NVTX 3). The header finds an attached tool by itself; without one nothing is loaded.
#pragma once
#include <string>

namespace ridge::base::nvtx {

bool attached();  // a tool such as Nsight Systems has named its library in the environment
void push(const std::string& text);
void pop();

}  // namespace ridge::base::nvtx
