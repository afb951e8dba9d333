// Descriptions of devices that this machine does not have.
#pragma once
#include <string>
#include <vector>

#include <ridge/device.hpp>

namespace ridge::detail {

std::vector<std::string> recorded_devices();  // their ids: "recorded:mi300x"

// Error{unavailable} names the known ones.
Device recorded_device(const std::string& id);

}  // namespace ridge::detail
