#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/host/sweep_simd_float.cpp"
namespace ridge::stencil {
using SweepElement = float;
}
#include "stencil/host/sweep_simd-inl.hpp"
