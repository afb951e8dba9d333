// Estimates the ceilings of a device that has not been measured.
#pragma once
#include <ridge/machine.hpp>

namespace ridge::machine {

// From limits and names alone: accurate within a small factor, which suffices to rank candidates. `host` is the
// machine's processor, on which PoCL runs.
Ceilings estimate(const DeviceInfo& device, const DeviceInfo& host);

}  // namespace ridge::machine
