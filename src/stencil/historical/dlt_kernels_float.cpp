#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/historical/dlt_kernels_float.cpp"
namespace ridge::stencil {
using KernelElement = float;
}
#include "stencil/historical/dlt_kernels-inl.hpp"
