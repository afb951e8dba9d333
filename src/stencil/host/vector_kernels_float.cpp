#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/host/vector_kernels_float.cpp"
namespace ridge::stencil {
using VectorElement = float;
}
#include "stencil/host/vector_kernels-inl.hpp"
