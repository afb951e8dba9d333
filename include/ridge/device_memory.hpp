// The device memory that plans use for arrays in host memory. Transforms, transposes and convolutions of larger host
// arrays run in panels: while kernels work on one, the next is uploaded and the previous one downloaded.
#pragma once
#include <cstddef>

#include <ridge/device.hpp>

namespace ridge {

// Limit for plans made from now on, in bytes. 0: the variable RIDGE_DEVICE_MEMORY ("8G"), else nine tenths of the
// device's memory.
void set_device_memory(std::size_t bytes);
std::size_t device_memory(const Device& device);

}  // namespace ridge
