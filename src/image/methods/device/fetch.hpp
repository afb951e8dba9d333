// Support for kernels that read single pixels, optionally converted to gray.
#pragma once
#include "image/methods/device/steps.hpp"

namespace ridge::image::on_device {

// Returns the only operation that is not Gray, or null. Operations that only move pixels may follow the conversion to
// gray.
const Operation* operation_besides_grays(const Link& link);
KernelSource fetch_source(const char* file, const Link& link);

}  // namespace ridge::image::on_device
