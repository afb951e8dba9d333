// Devices of the papers: limits of a work-group and capacities of a compute unit.
#include "papers/fft/device/published.hpp"

#include <array>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/json.hpp"
#include "device/backend.hpp"
#include "device/registry.hpp"

namespace ridge::fft::papers {
namespace {

// Eight hardware threads per unit, each with 128 registers of 8 floats; 16 work-items run in lockstep.
constexpr UnitCapacity kIvyBridge{.registers = 8192, .lanes = 16, .threads = 8, .local_memory = 128 << 10, .units = 16};
constexpr UnitCapacity kHaswell{.registers = 8192, .lanes = 16, .threads = 8, .local_memory = 128 << 10, .units = 40};

constexpr std::array<Platform, 5> kPlatforms{{
    {"komdiv", "KOMDIV's graphics core, Burtsev", 128},
    {"intel", "Intel UHD 630, Burtsev", 256},
    {"nvidia", "NVIDIA GeForce 1050 Ti, Burtsev", 1024},
    {"hd4000", "Intel HD 4000 (Ivy Bridge), 16 units, Bergach", 512, 16, kIvyBridge},
    {"haswell", "Intel Haswell's graphics, 40 units, Bergach", 512, 40, kHaswell},
}};

std::vector<std::shared_ptr<detail::DeviceState>> found_again(const Device& device) {
  std::vector<std::string> notes;
#ifdef RIDGE_HAVE_OPENCL
  if (device.info().backend == Backend::opencl) return detail::enumerate_opencl(notes);
#endif
#ifdef RIDGE_HAVE_CUDA
  if (device.info().backend == Backend::cuda) return detail::enumerate_cuda(notes);
#endif
  throw Error(ErrorKind::invalid_argument,
              fmt::format("{} runs no kernels: a platform needs an OpenCL or CUDA device", device.id()));
}

}  // namespace

std::span<const Platform> platforms() { return kPlatforms; }

const Platform& platform(const std::string& name) {
  std::string names;
  for (const Platform& one : kPlatforms) {
    if (name == one.name) return one;
    names += (names.empty() ? "" : ", ") + std::string(one.name);
  }
  throw Error(ErrorKind::invalid_argument, fmt::format("no platform \"{}\"; the papers have {}", name, names));
}

Device acting_as(const Device& device, const Platform& platform) {
  const Limits& limits = device.limits();
  base::Json options = base::Json::object();
  if (platform.work_group > 0 && platform.work_group < limits.work_group) options["work_group"] = platform.work_group;
  if (platform.units > 0 && platform.units < limits.compute_units) options["compute_units"] = platform.units;
  for (const auto& state : found_again(device)) {
    if (state->info.id != device.id()) continue;
    state->info = device.info();  // includes changes by an override file
    if (!options.empty()) detail::apply_overrides(base::Json{{device.id(), options}}.dump(), state->info);
    return Device(state);
  }
  throw Error(ErrorKind::unavailable, fmt::format("{} cannot be opened a second time", device.id()));
}

}  // namespace ridge::fft::papers
