#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/host/linear_kernels_double.cpp"
namespace ridge::stencil {
using KernelElement = double;
}
#include "stencil/host/linear_kernels-inl.hpp"
