// Opens NVML, and reads the power and energy of a GPU.
#include "machine/device/nvml.hpp"

#include <dlfcn.h>
#include <fmt/format.h>

#include <ridge/error.hpp>

namespace ridge::machine {

// nvmlReturn_t is an enumeration that starts with NVML_SUCCESS = 0; nvmlDevice_t is an opaque pointer.
struct NvmlLibrary {
  int (*init)() = nullptr;
  const char* (*error_string)(int) = nullptr;
  int (*handle_by_bus)(const char*, void**) = nullptr;
  int (*handle_by_uuid)(const char*, void**) = nullptr;
  int (*power_usage)(void*, unsigned*) = nullptr;                   // milliwatts
  int (*energy_consumption)(void*, unsigned long long*) = nullptr;  // millijoules; null with drivers before 2018
};

namespace {

constexpr int kSuccess = 0;

template <class Function>
bool bind(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(dlsym(library, name));
  return function != nullptr;
}

struct LoadedNvml {
  NvmlLibrary library;
  bool usable = false;
  std::string why_not;
};

LoadedNvml load_nvml() {
  LoadedNvml loaded;
  void* file = dlopen("libnvidia-ml.so.1", RTLD_NOW | RTLD_LOCAL);
  if (!file) {
    loaded.why_not = "libnvidia-ml.so.1 not found: no NVIDIA driver on this machine";
    return loaded;
  }
  NvmlLibrary& library = loaded.library;
  const bool whole = bind(file, "nvmlInit_v2", library.init) && bind(file, "nvmlErrorString", library.error_string) &&
                     bind(file, "nvmlDeviceGetHandleByPciBusId_v2", library.handle_by_bus) &&
                     bind(file, "nvmlDeviceGetHandleByUUID", library.handle_by_uuid) &&
                     bind(file, "nvmlDeviceGetPowerUsage", library.power_usage);
  bind(file, "nvmlDeviceGetTotalEnergyConsumption", library.energy_consumption);
  if (!whole) {
    loaded.why_not = "libnvidia-ml.so.1 lacks functions: the NVIDIA driver is too old";
    return loaded;
  }
  if (const int result = library.init(); result != kSuccess) {
    loaded.why_not = fmt::format("NVML does not start: {}", library.error_string(result));
    return loaded;
  }
  loaded.usable = true;
  return loaded;
}

// Started once and never shut down, because readers may exist until the process ends.
const LoadedNvml& loaded_library() {
  static const LoadedNvml* loaded = new LoadedNvml(load_nvml());
  return *loaded;
}

bool is_uuid(const std::string& device) { return device.starts_with("GPU-") || device.starts_with("MIG-"); }

}  // namespace

std::optional<NvmlReader> NvmlReader::open(const std::string& device, std::string& why_not) {
  why_not.clear();
  if (device.empty()) {
    why_not = "the device has no PCI address to find its power counter by";
    return std::nullopt;
  }
  const LoadedNvml& loaded = loaded_library();
  if (!loaded.usable) {
    why_not = loaded.why_not;
    return std::nullopt;
  }
  const NvmlLibrary& library = loaded.library;
  void* handle = nullptr;
  int result = is_uuid(device) ? library.handle_by_uuid(device.c_str(), &handle)
                               : library.handle_by_bus(device.c_str(), &handle);
  if (result != kSuccess) {
    why_not = fmt::format("NVML has no device {}: {}", device, library.error_string(result));
    return std::nullopt;
  }
  unsigned milliwatts = 0;
  result = library.power_usage(handle, &milliwatts);
  if (result != kSuccess) {
    why_not = fmt::format("device {} has no power counter: {}", device, library.error_string(result));
    return std::nullopt;
  }
  return NvmlReader(library, handle);
}

double NvmlReader::watts() const {
  unsigned milliwatts = 0;
  const int result = library_->power_usage(handle_, &milliwatts);
  if (result != kSuccess) {
    throw Error(ErrorKind::device, fmt::format("NVML lost the power counter: {}", library_->error_string(result)));
  }
  return milliwatts * 1e-3;
}

std::optional<double> NvmlReader::joules() const {
  unsigned long long millijoules = 0;
  if (!library_->energy_consumption || library_->energy_consumption(handle_, &millijoules) != kSuccess) {
    return std::nullopt;
  }
  return static_cast<double>(millijoules) * 1e-3;
}

}  // namespace ridge::machine
