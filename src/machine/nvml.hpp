// Power and energy of an NVIDIA GPU by NVML, the library that comes with the driver. Loaded when it is asked for; our
// own declarations of its few functions, so no header of the toolkit is needed.
#pragma once
#include <optional>
#include <string>

namespace ridge::machine {

struct NvmlLibrary;

class NvmlReader {
 public:
  // `device` is a PCI address ("0000:1b:00.0", DeviceInfo::bus) or a UUID ("GPU-..."). Nothing, with the reason in
  // `why_not`, where there is no driver, no such device, or no power counter.
  static std::optional<NvmlReader> open(const std::string& device, std::string& why_not);

  // What the board draws. Since the Ampere generation the driver gives the mean of the last second.
  double watts() const;

  // Used since the driver was loaded; rises in steps of some tens of milliseconds. Nothing before the Volta generation.
  std::optional<double> joules() const;

 private:
  NvmlReader(const NvmlLibrary& library, void* handle) : library_(&library), handle_(handle) {}
  const NvmlLibrary* library_;
  void* handle_;
};

}  // namespace ridge::machine
