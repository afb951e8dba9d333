// Which devices of a stream focus frames.
#pragma once
#include <string>
#include <vector>

namespace ridge::sar {

struct DeviceRates {
  std::string device;
  double alone, together;  // frames per second: of this device alone, and while all devices are busy
};

// For each device the reason why it gets no frames, empty if it gets some: one device gets all if it is faster alone
// than all together; otherwise a device with less than 1/16 of the fastest one's rate gets none.
std::vector<std::string> left_out(const std::vector<DeviceRates>& devices);

}  // namespace ridge::sar
