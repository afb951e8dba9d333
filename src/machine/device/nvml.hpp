// Power and energy of an NVIDIA GPU by NVML, the library that comes with the driver. It is loaded on first use and
// declared here, so no toolkit header is needed.
#pragma once
#include <optional>
#include <string>

namespace ridge::machine {

struct NvmlLibrary;

class NvmlReader {
 public:
  // `device` is a PCI address ("0000:1b:00.0", DeviceInfo::bus) or a UUID ("GPU-..."). Returns nothing, with the reason
  // in `why_not`, if there is no driver, no such device or no power counter.
  static std::optional<NvmlReader> open(const std::string& device, std::string& why_not);

  // Power of the board. Since the Ampere generation the driver reports the mean of the last second.
  double watts() const;

  // Energy since the driver was loaded, updated every few tens of milliseconds. Nothing before the Volta generation.
  std::optional<double> joules() const;

 private:
  NvmlReader(const NvmlLibrary& library, void* handle) : library_(&library), handle_(handle) {}
  const NvmlLibrary* library_;
  void* handle_;
};

}  // namespace ridge::machine
