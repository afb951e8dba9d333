// Kernels that read a pixel at a time, or its gray.
#pragma once
#include "image/operators/device/steps.hpp"

namespace ridge::image::on_device {

// The one operation that is no gray, where all others are: pixels that only move may be grayed before they do.
const Operation* among_grays(const Link& link);
KernelSource fetch_source(const char* file, const Link& link);

}  // namespace ridge::image::on_device
