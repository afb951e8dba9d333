// All devices of this machine, found once per process, and descriptions of others.
#pragma once
#include <string>
#include <vector>

#include <ridge/device.hpp>

namespace ridge::detail {

// Finds a device by name in a list; Error{unavailable} lists the available ones.
Device find_device(const DeviceList& list, const std::string& name);

// Applies an override file's text to a device: {"cuda:0": {"work_group": 128, "local_memory": 16384}} where the key is
// an id, or "opencl" or "*" for all. Limits can only shrink. Error{io} on a damaged text; the device is then untouched.
void apply_overrides(const std::string& text, DeviceInfo& info);

// Descriptions of devices that this machine does not have.

std::vector<std::string> recorded_devices();  // their ids: "recorded:mi300x"

// Error{unavailable} names the known ones.
Device recorded_device(const std::string& id);

// Sources that plans on a recorded device have passed to compile() since the last call.
std::vector<KernelSource> take_kernels(const Device& recorded);

}  // namespace ridge::detail
