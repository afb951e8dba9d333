// The exception type of the library: a message and the kind of failure.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

namespace ridge {

enum class ErrorKind {
  invalid_argument,  // the caller requested something impossible
  unavailable,       // a device, driver or library is not on this machine
  out_of_memory,     // a buffer exceeds the device's memory or the free memory
  compile,           // a device kernel did not compile; the message shows its source around the error
  io,                // a file is missing, damaged or cannot be written
  device,            // the driver reported a failure while running
  internal,          // a defect in Ridgeline
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }
  // True if the caller can correct the cause. The command exits with 1 for these and with 2 for the rest.
  bool callers_mistake() const noexcept {
    return kind_ == ErrorKind::invalid_argument || kind_ == ErrorKind::unavailable ||
           kind_ == ErrorKind::out_of_memory || kind_ == ErrorKind::io;
  }

 private:
  ErrorKind kind_;
};

}  // namespace ridge
