// What a device should be able to do, where nobody has measured it.
#pragma once
#include <ridge/machine.hpp>

namespace ridge::machine {

// From limits and names alone: right within a small factor, which is enough to rank candidates. `host` is the machine's
// processor: PoCL runs on it.
Ceilings estimate(const DeviceInfo& device, const DeviceInfo& host);

}  // namespace ridge::machine
