#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/host/strips_simd_double.cpp"
namespace ridge::stencil {
using StripElement = double;
}
#include "stencil/host/strips_simd-inl.hpp"
