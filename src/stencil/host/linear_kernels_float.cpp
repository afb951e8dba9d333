#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/host/linear_kernels_float.cpp"
namespace ridge::stencil {
using KernelElement = float;
}
#include "stencil/host/linear_kernels-inl.hpp"
