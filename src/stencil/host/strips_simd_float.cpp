#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/host/strips_simd_float.cpp"
namespace ridge::stencil {
using StripElement = float;
}
#include "stencil/host/strips_simd-inl.hpp"
