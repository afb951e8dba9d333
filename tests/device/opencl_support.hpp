// Helpers shared by the tests of the OpenCL back end and of the compile cache.
#pragma once
#include <gtest/gtest.h>
#include <stdlib.h>  // setenv is POSIX's
#include <ridge/device.hpp>

#include <filesystem>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "base/log.hpp"
#include "support/devices.hpp"

namespace ridge::test {

// Every OpenCL device of this machine: PoCL, and a GPU's driver if there is one.
inline std::vector<Device> opencl_devices() { return devices_of(Backend::opencl); }

class OpenCl : public NeedsOpenCl<> {};

// The error thrown by a call, or an Error of a kind and text that no test expects.
inline Error error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return error;
  }
  return Error(ErrorKind::internal, "there was no error");
}

class Environment {
 public:
  Environment(const char* name, const std::string& value) : name_(name) {
    const char* before = std::getenv(name);
    had_ = before != nullptr;
    if (had_) before_ = before;
    setenv(name, value.c_str(), 1);
  }
  ~Environment() { had_ ? setenv(name_, before_.c_str(), 1) : unsetenv(name_); }
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

 private:
  const char* name_;
  bool had_ = false;
  std::string before_;
};

// Gives the test its own empty cache folder.
class FreshCache {
 public:
  FreshCache() : folder_(make()), environment_("RIDGE_CACHE_DIR", folder_.string()) {}
  ~FreshCache() {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
  std::filesystem::path kernels() const { return folder_ / "kernels"; }
  std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> found;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(kernels(), error)) found.push_back(entry.path());
    return found;
  }

 private:
  static std::filesystem::path make() {
    std::string name = (std::filesystem::temp_directory_path() / "ridge-test-XXXXXX").string();
    if (mkdtemp(name.data()) == nullptr) throw Error(ErrorKind::io, "no temporary folder");
    return name;
  }
  std::filesystem::path folder_;
  Environment environment_;
};

class Warnings {
 public:
  Warnings() : before_(base::on_warning([this](const std::string& text) { heard.push_back(text); })) {}
  ~Warnings() { base::on_warning(before_); }
  std::vector<std::string> heard;

 private:
  base::WarningListener before_;
};

}  // namespace ridge::test
