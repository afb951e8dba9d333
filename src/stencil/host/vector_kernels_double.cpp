#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/host/vector_kernels_double.cpp"
namespace ridge::stencil {
using VectorElement = double;
}
#include "stencil/host/vector_kernels-inl.hpp"
