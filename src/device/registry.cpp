// Enumerates the back ends once, finds devices by name, and applies the overrides of limits.
#include "device/registry.hpp"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <charconv>
#include <cstdlib>
#include <optional>
#include <sstream>
#include <vector>

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/fork_gate.hpp"
#include "base/instruction_sets.hpp"
#include "base/log.hpp"
#include "base/number.hpp"
#include "device/backend.hpp"

namespace ridge {
namespace {

// RIDGE_BACKENDS=host,opencl limits the back ends (sanitizer runs, machines with a broken driver). Empty: all.
std::vector<std::string> wanted_backends() {
  const char* list = std::getenv("RIDGE_BACKENDS");
  std::vector<std::string> names;
  std::istringstream in(list == nullptr ? "" : base::lower_case(list));
  for (std::string name; std::getline(in, name, ',');) {
    if (name != "host" && name != "opencl" && name != "cuda")
      base::warn(fmt::format("RIDGE_BACKENDS={}: no back end \"{}\"; use host, opencl or cuda", list, name));
    names.push_back(name);
  }
  return names;
}

// RIDGE_LIMITS names an override file. A damaged one must not stop the program.
std::optional<std::string> override_text() {
  const char* path = std::getenv("RIDGE_LIMITS");
  if (path == nullptr || *path == 0) return std::nullopt;
  try {
    auto text = base::read_file(path, 1 << 20);
    if (!text) base::warn(fmt::format("RIDGE_LIMITS: {} does not exist; the devices keep their own limits", path));
    return text;
  } catch (const Error& error) {
    base::warn(fmt::format("RIDGE_LIMITS: {}; the devices keep their own limits", error.what()));
    return std::nullopt;
  }
}

void apply_override_file(DeviceInfo& info) {
  static const auto overrides = override_text();
  if (!overrides) return;
  try {
    detail::apply_overrides(*overrides, info);
  } catch (const Error& error) {
    base::warn(fmt::format("RIDGE_LIMITS: {}; {} keeps its own limits", error.what(), info.id));
  }
}

// A back end that is looked for when one of its devices is first needed: starting a driver takes a tenth of a second.
struct BackendEntry {
  const char* name;
  detail::Enumerate enumerate;
  const char* missing;  // note of a build without it
};

constexpr BackendEntry kOpenCl{"opencl",
#ifdef RIDGE_HAVE_OPENCL
                               detail::enumerate_opencl,
#else
                               nullptr,
#endif
                               "OpenCL: this build was made without the OpenCL headers"};
constexpr BackendEntry kCuda{"cuda",
#ifdef RIDGE_HAVE_CUDA
                             detail::enumerate_cuda,
#else
                             nullptr,
#endif
                             "CUDA: this build was made without the CUDA toolkit's headers"};

DeviceList find_devices(const BackendEntry& backend) {
  static const std::vector<std::string> wanted = wanted_backends();
  DeviceList list;
  if (backend.enumerate == nullptr) {
    list.notes.emplace_back(backend.missing);
  } else if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), backend.name) == wanted.end()) {
    list.notes.push_back(fmt::format("{}: disabled by RIDGE_BACKENDS", backend.name));
  } else {
    for (const auto& state : backend.enumerate(list.notes)) {
      apply_override_file(state->info);
      list.devices.emplace_back(state);
    }
  }
  return list;
}

const DeviceList& opencl_devices() {
  const base::ForkGate gate;
  static const DeviceList list = find_devices(kOpenCl);
  return list;
}

const DeviceList& cuda_devices() {
  const base::ForkGate gate;
  static const DeviceList list = find_devices(kCuda);
  return list;
}

std::optional<Device> match(const DeviceList& list, const std::string& name) {
  const std::string wanted_name = base::lower_case(name);
  const auto colon = wanted_name.find(':');
  const std::string backend = wanted_name.substr(0, colon);
  const std::string which = colon == std::string::npos ? "" : wanted_name.substr(colon + 1);
  for (const Device& device : list.devices) {
    if (device.id() == wanted_name) return device;
  }
  const bool number = !which.empty() && std::all_of(which.begin(), which.end(), ::isdigit);
  for (const Device& device : list.devices) {
    if (number || backend != to_string(device.info().backend)) continue;
    const std::string description = base::lower_case(device.info().vendor + " " + device.info().name);
    if (which.empty() || description.find(which) != std::string::npos) return device;
    // PoCL calls its platform "Portable Computing Language".
    if (which == "pocl" && description.find("portable computing language") != std::string::npos) return device;
  }
  return std::nullopt;
}

}  // namespace

namespace detail {

Device find_device(const DeviceList& list, const std::string& name) {
  if (const auto found = match(list, name)) return *found;
  const std::string wanted_name = base::lower_case(name), backend = wanted_name.substr(0, wanted_name.find(':'));
  std::string there;
  for (const Device& device : list.devices) there += fmt::format("{}{}", there.empty() ? "" : ", ", device.id());
  for (const std::string& note : list.notes) {
    if (base::lower_case(note).starts_with(backend)) there += fmt::format(" ({})", note);
  }
  throw Error(ErrorKind::unavailable, fmt::format("no device \"{}\" on this machine; available: {}", name, there));
}

}  // namespace detail

const DeviceList& devices() {
  const base::ForkGate gate;
  static const DeviceList all = [] {
    DeviceList list;
    list.devices.push_back(host());
    for (const DeviceList* part : {&opencl_devices(), &cuda_devices()}) {
      list.devices.insert(list.devices.end(), part->devices.begin(), part->devices.end());
      list.notes.insert(list.notes.end(), part->notes.begin(), part->notes.end());
    }
    return list;
  }();
  return all;
}

// Does not look for other devices: starting a GPU's driver takes a tenth of a second.
Device host() {
  static std::atomic<bool> known{false};
  std::optional<base::ForkGate> gate;
  if (!known.load(std::memory_order_acquire)) gate.emplace();
  static const Device device = [] {
    base::limit_instruction_sets();
    std::vector<std::string> notes;
    const auto state = detail::enumerate_host(notes).front();
    apply_override_file(state->info);
    return Device(state);
  }();
  known.store(true, std::memory_order_release);
  return device;
}

// A discrete GPU if there is one, CUDA before OpenCL; the host's own SIMD kernels before OpenCL on the same processor.
// OpenCL is not started if CUDA has a device.
Device best() {
  if (!cuda_devices().devices.empty()) return cuda_devices().devices.front();
  for (const Device& device : opencl_devices().devices) {
    if (!device.info().shares_host_memory) return device;
  }
  return host();
}

Device device(const std::string& name) {
  std::string chosen = name;
  if (chosen.empty()) {
    const char* environment = std::getenv("RIDGE_DEVICE");
    chosen = environment == nullptr || *environment == 0 ? "best" : environment;
  }
  if (chosen == "best") return best();
  const std::string backend = base::lower_case(chosen).substr(0, chosen.find(':'));
  if (base::lower_case(chosen) == "host") return host();
  if (backend == "recorded") return detail::recorded_device(base::lower_case(chosen));
  if (backend == "opencl" || backend == "cuda") {
    if (const auto found = match(backend == "cuda" ? cuda_devices() : opencl_devices(), chosen)) return *found;
  }
  return detail::find_device(devices(), chosen);  // raises the error that lists all devices
}

}  // namespace ridge
