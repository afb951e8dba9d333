// Every failure Ridgeline reports: one exception type with a kind.
#pragma once
#include <stdexcept>
#include <string>
#include <utility>

namespace ridge {

enum class ErrorKind {
  invalid_argument,  // the caller asked for something impossible
  unavailable,       // a device, driver or library is not on this machine
  out_of_memory,     // a buffer larger than the device, or than what is free
  compile,           // a device kernel did not compile; the message shows its source around the fault
  io,                // a file is missing, damaged or cannot be written
  device,            // the driver reported a failure while running
  internal,          // a defect of Ridgeline's own
};

class Error : public std::runtime_error {
 public:
  Error(ErrorKind kind, const std::string& message) : std::runtime_error(message), kind_(kind) {}
  ErrorKind kind() const noexcept { return kind_; }
  // True where the caller can mend it; the command exits 1 for these and 2 for the rest.
  bool callers_mistake() const noexcept {
    return kind_ == ErrorKind::invalid_argument || kind_ == ErrorKind::unavailable ||
           kind_ == ErrorKind::out_of_memory || kind_ == ErrorKind::io;
  }

 private:
  ErrorKind kind_;
};

}  // namespace ridge
