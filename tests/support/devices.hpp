// Devices for tests: those with kernels, and the fixture of a test that cannot do without one.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include <ridge/device.hpp>

namespace ridge::test {

// OpenCL and CUDA: PoCL, and on a machine with a GPU its drivers.
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

// For large kernels over small data: PoCL takes a tenth of the time to compile them without optimizing. A stage of
// `./test --all` has them as users do: it sets the variable.
inline void compile_quickly() { setenv("POCL_EXTRA_BUILD_FLAGS", "-cl-opt-disable", 0); }

// A person's machine may lack a device; where everything was installed to test (CI=true) that is a failure: tests that
// silently do not run prove nothing.
inline bool must_have_devices() {
  const char* ci = std::getenv("CI");
  const char* backends = std::getenv("RIDGE_BACKENDS");  // sanitizers look for the host alone
  return ci != nullptr && std::string(ci) == "true" &&
         (backends == nullptr || std::string(backends).find("opencl") != std::string::npos);
}

// A fixture over these is skipped, or fails, where there is no such device. `Base` is testing::Test or
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
