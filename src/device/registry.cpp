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
#include "device/backend.hpp"

namespace ridge {
namespace {

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  return text;
}

// RIDGE_BACKENDS=host,opencl limits the back ends (sanitizer runs, machines with a broken driver). Empty: all.
std::vector<std::string> wanted_backends() {
  const char* list = std::getenv("RIDGE_BACKENDS");
  std::vector<std::string> names;
  std::istringstream in(list == nullptr ? "" : lower(list));
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

DeviceList find_all() {
  struct Named {
    const char* name;
    detail::Enumerate enumerate;
  };
  const std::vector<Named> backends = {
#ifdef RIDGE_HAVE_OPENCL
      {"opencl", detail::enumerate_opencl},
#endif
#ifdef RIDGE_HAVE_CUDA
      {"cuda", detail::enumerate_cuda},
#endif
  };
  const std::vector<std::string> wanted = wanted_backends();
  DeviceList list;
  list.devices.push_back(host());
#ifndef RIDGE_HAVE_OPENCL
  list.notes.emplace_back("OpenCL: this build was made without the OpenCL headers");
#endif
#ifndef RIDGE_HAVE_CUDA
  list.notes.emplace_back("CUDA: this build was made without the CUDA toolkit's headers");
#endif
  for (const Named& backend : backends) {
    if (!wanted.empty() && std::find(wanted.begin(), wanted.end(), backend.name) == wanted.end()) {
      list.notes.push_back(fmt::format("{}: disabled by RIDGE_BACKENDS", backend.name));
      continue;
    }
    for (const auto& state : backend.enumerate(list.notes)) {
      apply_override_file(state->info);
      list.devices.emplace_back(state);
    }
  }
  return list;
}

}  // namespace

namespace detail {

Device find_device(const DeviceList& list, const std::string& name) {
  const std::string wanted_name = lower(name);
  const auto colon = wanted_name.find(':');
  const std::string backend = wanted_name.substr(0, colon);
  const std::string which = colon == std::string::npos ? "" : wanted_name.substr(colon + 1);
  for (const Device& device : list.devices) {
    if (device.id() == wanted_name) return device;
  }
  const bool number = !which.empty() && std::all_of(which.begin(), which.end(), ::isdigit);
  for (const Device& device : list.devices) {
    if (number || backend != to_string(device.info().backend)) continue;
    const std::string description = lower(device.info().vendor + " " + device.info().name);
    if (which.empty() || description.find(which) != std::string::npos) return device;
    // PoCL calls its platform "Portable Computing Language".
    if (which == "pocl" && description.find("portable computing language") != std::string::npos) return device;
  }
  std::string there;
  for (const Device& device : list.devices) there += fmt::format("{}{}", there.empty() ? "" : ", ", device.id());
  for (const std::string& note : list.notes) {
    if (lower(note).starts_with(backend)) there += fmt::format(" ({})", note);
  }
  throw Error(ErrorKind::unavailable, fmt::format("no device \"{}\" on this machine; available: {}", name, there));
}

}  // namespace detail

const DeviceList& devices() {
  const base::ForkGate gate;
  static const DeviceList list = find_all();
  return list;
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
Device best() {
  const auto rank = [](const Device& device) {
    if (device.info().backend == Backend::cuda) return 3;
    if (device.is_host()) return 1;
    return device.info().shares_host_memory ? 0 : 2;
  };
  const auto& all = devices().devices;
  return *std::max_element(all.begin(), all.end(), [&](const Device& a, const Device& b) { return rank(a) < rank(b); });
}

Device device(const std::string& name) {
  std::string chosen = name;
  if (chosen.empty()) {
    const char* environment = std::getenv("RIDGE_DEVICE");
    chosen = environment == nullptr || *environment == 0 ? "best" : environment;
  }
  return chosen == "best" ? best() : detail::find_device(devices(), chosen);
}

}  // namespace ridge
