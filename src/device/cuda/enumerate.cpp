// Lists the CUDA devices and reads their properties.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <sstream>

#include "base/number.hpp"
#include "device/cuda/state.hpp"
#include "device/kernel_pack.hpp"
#include "device/traits.hpp"

namespace ridge::detail {
namespace {

// "580.82.07" from the kernel module's line; empty if the system hides it.
std::string kernel_module_version() {
  std::ifstream file("/proc/driver/nvidia/version");
  std::string line;
  std::getline(file, line);
  std::istringstream words(line.substr(0, 1024));
  for (std::string word; words >> word;) {
    const bool digits =
        std::all_of(word.begin(), word.end(), [](unsigned char c) { return std::isdigit(c) || c == '.'; });
    if (digits && word.find('.') != std::string::npos) return word;
  }
  return {};
}

std::string driver_description(const CudaDriver& driver) {
  int version = 0;
  driver.driver_get_version(&version);
  const std::string module = kernel_module_version();
  return fmt::format("{}{}CUDA {}.{}", module, module.empty() ? "" : ", ", version / 1000, version % 1000 / 10);
}

std::string reason(const CudaDriver& driver, CUresult result) {
  const char* name = nullptr;
  const char* meaning = nullptr;
  driver.get_error_name(result, &name);
  driver.get_error_string(result, &meaning);
  return fmt::format("{} ({})", name ? name : "unknown error", meaning ? meaning : "no description");
}

// 0 if the driver does not know the attribute.
int attribute(const CudaDriver& driver, CUdevice device, CUdevice_attribute which) {
  int value = 0;
  if (driver.device_get_attribute(&value, which, device) != CUDA_SUCCESS) return 0;
  return value;
}

std::string device_name(const CudaDriver& driver, CUdevice device) {
  std::array<char, 256> name{};
  if (driver.device_get_name(name.data(), static_cast<int>(name.size()) - 1, device) != CUDA_SUCCESS) return "NVIDIA";
  return name.data();
}

std::string bus_address(const CudaDriver& driver, CUdevice device) {
  std::array<char, 32> address{};
  if (driver.device_get_pci_bus_id(address.data(), static_cast<int>(address.size()) - 1, device) != CUDA_SUCCESS) {
    return {};
  }
  return base::lower_case(address.data());
}

Limits read_limits(const CudaDriver& driver, CUdevice device, int architecture) {
  const auto read = [&](CUdevice_attribute which) {
    return static_cast<std::size_t>(std::max(0, attribute(driver, device, which)));
  };
  Limits limits;
  describe_architecture(architecture, Backend::cuda, limits);
  limits.work_group = read(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK);
  limits.work_group_sides = {read(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_X), read(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Y),
                             read(CU_DEVICE_ATTRIBUTE_MAX_BLOCK_DIM_Z)};
  limits.local_memory = std::max(read(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN),
                                 read(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK));
  limits.registers = read(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_BLOCK);
  limits.constant_memory = read(CU_DEVICE_ATTRIBUTE_TOTAL_CONSTANT_MEMORY);
  limits.sub_group = read(CU_DEVICE_ATTRIBUTE_WARP_SIZE);
  limits.alignment = 256;  // guaranteed by cuMemAlloc
  limits.compute_units = read(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
  limits.items_per_unit = read(CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_MULTIPROCESSOR);
  limits.unit_registers = read(CU_DEVICE_ATTRIBUTE_MAX_REGISTERS_PER_MULTIPROCESSOR);
  limits.unit_local_memory = read(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_MULTIPROCESSOR);
  std::size_t memory = 0;
  if (driver.device_total_mem(&memory, device) == CUDA_SUCCESS) limits.memory = limits.allocation = memory;
  return limits;
}

// Nothing, and a note, for a device that cannot be used.
// `compiler` is null if kernels are shipped: NVRTC is then opened when one is missing.
std::shared_ptr<CudaDevice> describe_device(const CudaDriver& driver, const Nvrtc* compiler, int ordinal,
                                            const std::string& versions, std::vector<std::string>& notes) {
  CUdevice device = 0;
  if (const CUresult result = driver.device_get(&device, ordinal); result != CUDA_SUCCESS) {
    notes.push_back(fmt::format("CUDA: device {} does not answer: {}", ordinal, reason(driver, result)));
    return nullptr;
  }
  const std::string name = device_name(driver, device);
  if (attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE) == CU_COMPUTEMODE_PROHIBITED) {
    notes.push_back(fmt::format("CUDA: {} is set to compute mode \"prohibited\" (nvidia-smi -c 0 allows it)", name));
    return nullptr;
  }
  const int compute = attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR) * 10 +
                      attribute(driver, device, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  if (compiler != nullptr && !choose_target(*compiler, compute)) {
    notes.push_back("CUDA: " + name + " is left out: " + too_old(*compiler, compute));
    return nullptr;
  }
  auto state = std::make_shared<CudaDevice>(driver, device, compute);
  DeviceInfo& info = state->info;
  info.id = fmt::format("cuda:{}", ordinal);
  info.name = name;
  info.vendor = "NVIDIA";
  info.driver = versions;
  info.isa = fmt::format("sm_{}", compute);
  info.bus = bus_address(driver, device);
  info.backend = Backend::cuda;
  info.limits = read_limits(driver, device, compute);
  info.clock_ghz = attribute(driver, device, CU_DEVICE_ATTRIBUTE_CLOCK_RATE) * 1e-6;
  info.shares_host_memory = attribute(driver, device, CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0;
  return state;
}

std::vector<std::shared_ptr<DeviceState>> find_devices(std::vector<std::string>& notes) {
  std::string why_not;
  const CudaDriver* driver = cuda_driver(why_not);
  if (!driver) {
    notes.push_back("CUDA: " + why_not);
    return {};
  }
  int count = 0;
  CUresult result = driver->init(0);
  if (result == CUDA_SUCCESS) result = driver->device_get_count(&count);
  if (result == CUDA_ERROR_NO_DEVICE || (result == CUDA_SUCCESS && count == 0)) {
    notes.emplace_back(
        "CUDA: the NVIDIA driver finds no device: install one, or check that CUDA_VISIBLE_DEVICES does not hide it");
    return {};
  }
  if (result != CUDA_SUCCESS) {
    notes.push_back("CUDA: the NVIDIA driver does not start: " + reason(*driver, result));
    return {};
  }
  const Nvrtc* compiler = shipped_kernels() ? nullptr : nvrtc(why_not);
  if (!compiler && !shipped_kernels()) {
    notes.push_back(fmt::format("CUDA: {} device{} left out, because kernels cannot be compiled: {}", count,
                                count == 1 ? "" : "s", why_not));
    return {};
  }
  const std::string versions = driver_description(*driver);
  std::vector<std::shared_ptr<DeviceState>> devices;
  for (int ordinal = 0; ordinal < count; ++ordinal) {
    if (auto device = describe_device(*driver, compiler, ordinal, versions, notes)) devices.push_back(device);
  }
  return devices;
}

}  // namespace

std::vector<std::shared_ptr<DeviceState>> enumerate_cuda(std::vector<std::string>& notes) {
  try {
    return find_devices(notes);
  } catch (const std::exception& error) {
    notes.push_back(fmt::format("CUDA: {}", error.what()));
    return {};
  }
}

}  // namespace ridge::detail
