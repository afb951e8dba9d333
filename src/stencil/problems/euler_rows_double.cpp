#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "stencil/problems/euler_rows_double.cpp"
namespace ridge::stencil {
using EulerElement = double;
}
#include "stencil/problems/euler_rows-inl.hpp"
