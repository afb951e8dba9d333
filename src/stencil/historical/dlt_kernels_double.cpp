#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/historical/dlt_kernels_double.cpp"
namespace ridge::stencil {
using KernelElement = double;
}
#include "stencil/historical/dlt_kernels-inl.hpp"
