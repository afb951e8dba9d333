// Devices for tests: those that run kernels, and fixtures for tests that need one.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <ridge/device.hpp>

namespace ridge::test {

// OpenCL and CUDA devices: PoCL, and the GPUs of the machine.
inline std::vector<Device> accelerators() {
  std::vector<Device> found;
  for (const Device& device : devices().devices) {
    if (!device.is_host()) found.push_back(device);
  }
  return found;
}

inline std::vector<Device> devices_of(Backend backend) {
  std::vector<Device> found;
  for (const Device& device : devices().devices) {
    if (device.info().backend == backend) found.push_back(device);
  }
  return found;
}

// For large kernels on small data: without optimization PoCL compiles them in a tenth of the time. One stage of `./test
// --all` sets the variable, so that they are compiled as for users.
inline void compile_quickly() { setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 0); }

// A developer's machine may lack a device. In CI (CI=true), where everything is installed, a missing device is a
// failure, so that no test is skipped silently.
inline bool must_have_devices() {
  const char* ci = std::getenv("CI");
  const char* backends = std::getenv("RIDGE_BACKENDS");  // sanitizer builds use the host only
  return ci != nullptr && std::string(ci) == "true" &&
         (backends == nullptr || std::string(backends).find("opencl") != std::string::npos);
}

// A fixture derived from this class is skipped, or fails, if there is no such device. `Base` is testing::Test or
// testing::TestWithParam<...>.
template <class Base = testing::Test>
class NeedsAccelerator : public Base {
 protected:
  void SetUp() override {
    if (!accelerators().empty()) return;
    if (must_have_devices()) FAIL() << "no OpenCL and no CUDA device, and CI=true";
    GTEST_SKIP() << "no OpenCL and no CUDA device on this machine";
  }
};

template <class Base = testing::Test>
class NeedsOpenCl : public Base {
 protected:
  void SetUp() override {
    if (!devices_of(Backend::opencl).empty()) return;
    if (must_have_devices()) FAIL() << "no OpenCL device, and CI=true";
    GTEST_SKIP() << "no OpenCL device on this machine";
  }
};

}  // namespace ridge::test
