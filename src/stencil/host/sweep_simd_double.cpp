#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/host/sweep_simd_double.cpp"
namespace ridge::stencil {
using SweepElement = double;
}
#include "stencil/host/sweep_simd-inl.hpp"
