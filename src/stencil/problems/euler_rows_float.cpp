#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/problems/euler_rows_float.cpp"
namespace ridge::stencil {
using EulerElement = float;
}
#include "stencil/problems/euler_rows-inl.hpp"
