#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/classic/dlt_kernels_double.cpp"
namespace ridge::stencil {
using KernelElement = double;
}
#include "stencil/classic/dlt_kernels-inl.hpp"
