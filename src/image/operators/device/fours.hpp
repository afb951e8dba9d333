// What the kernels that move four channels at a time are compiled with.
#pragma once
#include "image/operators/device/steps.hpp"

namespace ridge::image::on_device {

KernelSource fours_source(const char* file, const Shape& in, Border border, double constant);

}  // namespace ridge::image::on_device
