// Reads the properties of OpenCL devices, with those that only a vendor's extension reports.
#include "device/opencl/info.hpp"

#include <algorithm>
#include <cctype>

#include <fmt/format.h>

#include "device/traits.hpp"

namespace ridge::detail::opencl {
namespace {

// From cl_nv_device_attribute_query and cl_intel_required_subgroup_size; not every set of headers has them.
constexpr cl_device_info kComputeCapabilityMajorNv = 0x4000;
constexpr cl_device_info kComputeCapabilityMinorNv = 0x4001;
constexpr cl_device_info kRegistersPerBlockNv = 0x4002;
constexpr cl_device_info kWarpSizeNv = 0x4003;
constexpr cl_device_info kSubGroupSizesIntel = 0x4108;

constexpr std::size_t kLongestText = 1 << 20;

std::string trimmed(std::string text) {
  const auto end = text.find('\0');
  if (end != std::string::npos) text.resize(end);
  const auto first = text.find_first_not_of(" \t\n");
  if (first == std::string::npos) return "";
  return text.substr(first, text.find_last_not_of(" \t\n") - first + 1);
}

template <class T>
T device_value(cl_device_id device, cl_device_info what, T otherwise = {}) {
  T value{};
  return api().GetDeviceInfo(device, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : otherwise;
}

bool has_extension(const std::string& extensions, std::string_view name) {
  return (" " + extensions + " ").find(fmt::format(" {} ", name)) != std::string::npos;
}

// "OpenCL 3.0 PoCL ..." -> 30
int version_number(const std::string& text) {
  const auto dot = text.find('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 >= text.size()) return 12;
  const auto digit = [&](std::size_t at) { return std::isdigit(static_cast<unsigned char>(text[at])) != 0; };
  return digit(dot - 1) && digit(dot + 1) ? (text[dot - 1] - '0') * 10 + (text[dot + 1] - '0') : 12;
}

// Sub-group width that kernels request: the largest up to 32, as on GPUs. 0 if they cannot request one.
std::size_t requested_sub_group(cl_device_id device, const std::string& extensions) {
  for (const char* needed : {"cl_khr_subgroups", "cl_khr_subgroup_shuffle", "cl_khr_subgroup_shuffle_relative",
                             "cl_intel_required_subgroup_size"}) {
    if (!has_extension(extensions, needed)) return 0;
  }
  std::array<std::size_t, 64> sizes{};
  std::size_t bytes = 0;
  if (api().GetDeviceInfo(device, kSubGroupSizesIntel, sizeof sizes, sizes.data(), &bytes) != CL_SUCCESS) return 0;
  std::size_t widest = 0;
  for (std::size_t i = 0; i < std::min(bytes / sizeof(std::size_t), sizes.size()); ++i) {
    if (sizes[i] > 1 && sizes[i] <= 32) widest = std::max(widest, sizes[i]);
  }
  return widest;
}

// PoCL names the target after "HSTR:"; others only report their OpenCL C version.
std::string target(cl_device_id device) {
  const std::string version = device_text(device, CL_DEVICE_VERSION);
  const auto at = version.find("HSTR: ");
  if (at == std::string::npos) return device_text(device, CL_DEVICE_OPENCL_C_VERSION);
  std::string name = version.substr(at + 6);
  if (name.ends_with("-(null)")) name.resize(name.size() - 7);
  return name;
}

Limits limits_of(cl_device_id device) {
  Limits limits;
  limits.work_group = std::max<std::size_t>(1, device_value<std::size_t>(device, CL_DEVICE_MAX_WORK_GROUP_SIZE, 1));
  const auto axes = device_value<cl_uint>(device, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, 3);
  std::array<std::size_t, 16> sides{};
  if (axes >= 3 && axes <= sides.size() &&
      api().GetDeviceInfo(device, CL_DEVICE_MAX_WORK_ITEM_SIZES, axes * sizeof(std::size_t), sides.data(), nullptr) ==
          CL_SUCCESS) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      limits.work_group_sides[axis] = std::clamp<std::size_t>(sides[axis], 1, limits.work_group);
    }
  }
  limits.local_memory = device_value<cl_ulong>(device, CL_DEVICE_LOCAL_MEM_SIZE);
  limits.constant_memory = device_value<cl_ulong>(device, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE);
  limits.alignment = std::max<std::size_t>(1, device_value<cl_uint>(device, CL_DEVICE_MEM_BASE_ADDR_ALIGN, 1024) / 8);
  limits.compute_units = std::max<cl_uint>(1, device_value<cl_uint>(device, CL_DEVICE_MAX_COMPUTE_UNITS, 1));
  limits.items_per_unit = 0;
  limits.memory = device_value<cl_ulong>(device, CL_DEVICE_GLOBAL_MEM_SIZE);
  limits.allocation = device_value<cl_ulong>(device, CL_DEVICE_MAX_MEM_ALLOC_SIZE);
  limits.float64 = device_value<cl_device_fp_config>(device, CL_DEVICE_DOUBLE_FP_CONFIG) != 0;
  return limits;
}

void describe_nvidia(cl_device_id device, DeviceInfo& info) {
  const auto major = device_value<cl_uint>(device, kComputeCapabilityMajorNv);
  const auto minor = device_value<cl_uint>(device, kComputeCapabilityMinorNv);
  info.limits.registers = device_value<cl_uint>(device, kRegistersPerBlockNv);
  info.limits.sub_group = device_value<cl_uint>(device, kWarpSizeNv);
  if (major == 0) return;
  info.isa = fmt::format("sm_{}{}", major, minor);
  describe_architecture(static_cast<int>(major * 10 + minor), Backend::opencl, info.limits);
}

}  // namespace

std::string platform_text(cl_platform_id platform, cl_platform_info what) {
  std::size_t size = 0;
  if (api().GetPlatformInfo(platform, what, 0, nullptr, &size) != CL_SUCCESS || size > kLongestText) return "";
  std::string text(size, '\0');
  if (api().GetPlatformInfo(platform, what, size, text.data(), nullptr) != CL_SUCCESS) return "";
  return trimmed(text);
}

std::string device_text(cl_device_id device, cl_device_info what) {
  std::size_t size = 0;
  if (api().GetDeviceInfo(device, what, 0, nullptr, &size) != CL_SUCCESS || size > kLongestText) return "";
  std::string text(size, '\0');
  if (api().GetDeviceInfo(device, what, size, text.data(), nullptr) != CL_SUCCESS) return "";
  return trimmed(text);
}

std::string why_unusable(cl_device_id device) {
  if (device_value<cl_bool>(device, CL_DEVICE_AVAILABLE, CL_FALSE) == CL_FALSE) return "is not available";
  if (device_value<cl_bool>(device, CL_DEVICE_COMPILER_AVAILABLE, CL_FALSE) == CL_FALSE) return "has no compiler";
  if (version_number(device_text(device, CL_DEVICE_VERSION)) < 12) return "is older than OpenCL 1.2";
  return "";
}

Description describe(cl_platform_id platform, cl_device_id device) {
  Description result;
  DeviceInfo& info = result.info;
  info.name = device_text(device, CL_DEVICE_NAME);
  info.vendor = platform_text(platform, CL_PLATFORM_NAME);
  info.driver =
      fmt::format("{} ({})", device_text(device, CL_DRIVER_VERSION), platform_text(platform, CL_PLATFORM_VERSION));
  info.isa = target(device);
  info.backend = Backend::opencl;
  info.limits = limits_of(device);
  info.clock_ghz = device_value<cl_uint>(device, CL_DEVICE_MAX_CLOCK_FREQUENCY) / 1000.0;
  info.shares_host_memory = device_value<cl_bool>(device, CL_DEVICE_HOST_UNIFIED_MEMORY) != CL_FALSE;
  info.runs_on_host_cores =
      info.shares_host_memory && (device_value<cl_device_type>(device, CL_DEVICE_TYPE) & CL_DEVICE_TYPE_CPU) != 0;

  const bool pocl = info.vendor.find("Portable Computing Language") != std::string::npos;
  info.limits.private_arrays_in_registers = !pocl;  // PoCL keeps them in arrays on a stack
  if (pocl) {
    // One thread's stack (8 MiB) holds the private variables of all work-items of a group. With the 4096 that PoCL
    // reports, a Bluestein kernel of 10343 points overflowed it on x86-64.
    constexpr std::size_t kMostItems = 1024;
    info.limits.work_group = std::min(info.limits.work_group, kMostItems);
    for (std::size_t& side : info.limits.work_group_sides) side = std::min(side, kMostItems);
  }

  Traits& traits = result.traits;
  traits.one_queue = traits.keeps_compiled = traits.reads_clang_header = pocl;
  traits.nvidia = is_nvidia(info);
  traits.version = version_number(device_text(device, CL_DEVICE_VERSION));
  traits.correctly_rounded = (device_value<cl_device_fp_config>(device, CL_DEVICE_SINGLE_FP_CONFIG) &
                              CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT) != 0;
  traits.timer_step = std::max<cl_ulong>(1, device_value<std::size_t>(device, CL_DEVICE_PROFILING_TIMER_RESOLUTION, 1));

  const std::string extensions = device_text(device, CL_DEVICE_EXTENSIONS);
  if (traits.nvidia) {
    if (has_extension(extensions, "cl_nv_device_attribute_query")) describe_nvidia(device, info);
  } else {
    info.limits.sub_group = requested_sub_group(device, extensions);
  }
  return result;
}

}  // namespace ridge::detail::opencl
