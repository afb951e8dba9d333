// Helpers shared by the tests of the OpenCL back end and of the compile cache.
#pragma once
#include <gtest/gtest.h>
#include <ridge/device.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "support/devices.hpp"
#include "support/scratch.hpp"

namespace ridge::test {

// Every OpenCL device of this machine: PoCL, and a GPU's driver if there is one.
inline std::vector<Device> opencl_devices() { return devices_of(Backend::opencl); }

class OpenCl : public NeedsOpenCl<> {};

// The error thrown by a call, or an Error of a kind and text that no test expects.
inline Error thrown_error(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::internal, "there was no error");
}

// Gives the test its own empty cache folder.
class FreshCache {
 public:
  std::filesystem::path kernels() const { return folder_ / "kernels"; }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(kernels(), error)) found.push_back(entry.path());
    return found;
  }

 private:
  ScratchFolder folder_;
  ScopedEnvironment environment_{"RIDGE_CACHE_DIR", folder_.path().string()};
};

}  // namespace ridge::test
