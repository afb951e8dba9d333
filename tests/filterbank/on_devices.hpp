// The fixture of the filter bank's tests on devices.
#pragma once
#include <cstdlib>

#include "support/devices.hpp"

namespace ridge::filterbank::test {

class BankOnDevices : public ridge::test::NeedsAccelerator<> {
 protected:
  // A kernel costs a compilation of seconds on PoCL: where it does, tests take fewer of those that are alike.
  static bool compiles_fast(const Device& device) {
    return device.limits().sub_group != 0 || std::getenv("RIDGE_SLOW") != nullptr;
  }
};

}  // namespace ridge::filterbank::test
