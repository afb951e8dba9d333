// Ceilings of a device: from the saved profile, or estimated from its limits and its GPU generation.
#include "machine/roofline/roofline.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <memory>
#include <mutex>
#include <string_view>

#include <ridge/machine.hpp>

#include "base/fork_gate.hpp"
#include "base/number.hpp"

namespace ridge::machine {
namespace {

bool contains_any(const std::string& text, std::initializer_list<std::string_view> words) {
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return text.find(word) != std::string::npos; });
}

Level memory_level(const Limits& limits, double bytes_per_second, double one_core) {
  Level level;
  level.name = "memory";
  level.capacity = limits.memory;
  level.all.read = level.all.write = level.all.copy = bytes_per_second;
  level.one.read = level.one.write = level.one.copy = one_core;
  return level;
}

// --- the host ------------------------------------------------------------------------------------------------------

// Floats per vector of a Highway target.
double simd_floats(const std::string& isa) {
  const std::string name = base::lower_case(isa);
  if (contains_any(name, {"avx3", "avx512", "avx-512"})) return 16;
  if (contains_any(name, {"sve2_128"})) return 4;
  if (contains_any(name, {"avx", "sve"})) return 8;
  if (contains_any(name, {"scalar", "emu"})) return 1;
  return 4;
}

Ceilings estimate_host(const DeviceInfo& device) {
  const double cores = static_cast<double>(std::max<std::size_t>(device.limits.compute_units, 1));
  const double clock = (device.clock_ghz > 0 ? device.clock_ghz : 2.5) * 1e9;
  constexpr double fma_units = 2, flops_of_fma = 2;
  constexpr double one_core_bandwidth = 10e9, most_bandwidth = 100e9;
  Ceilings result;
  result.flops_float_one = clock * simd_floats(device.isa) * fma_units * flops_of_fma;
  result.flops_double_one = result.flops_float_one / 2;
  result.flops_float = cores * result.flops_float_one;
  result.flops_double = cores * result.flops_double_one;
  result.levels.push_back(
      memory_level(device.limits, std::min(cores * one_core_bandwidth, most_bandwidth), one_core_bandwidth));
  result.launch_seconds = 5e-6;
  return result;
}

// PoCL runs on the same cores and memory; assumes half of the host's rates.
Ceilings estimate_on_host(const DeviceInfo& device, const DeviceInfo& host) {
  Ceilings result = estimate_host(host);
  const double copy = result.memory().all.copy / 2;
  result.flops_float /= 2;
  result.flops_double = device.limits.float64 ? result.flops_double / 2 : 0;
  result.flops_float_one = result.flops_double_one = 0;
  result.levels.assign(1, memory_level(device.limits, copy, 0));
  result.launch_seconds = 50e-6;
  result.transfers = {copy, copy, copy, copy, copy, copy};
  return result;
}

// --- GPUs ----------------------------------------------------------------------------------------------------------

struct Generation {
  int architecture;        // Limits::architecture
  std::string_view model;  // part of the board's name, for OpenCL
  double lanes;            // float lanes per compute unit
  double double_share;     // ratio of the double to the float rate
  double bandwidth;        // bytes per second of the usual board
};
constexpr Generation kGenerations[] = {
    {60, "p100", 64, 0.5, 0.7e12},      {70, "v100", 64, 0.5, 0.9e12},      {80, "a100", 64, 0.5, 1.6e12},
    {90, "h200", 128, 0.5, 4.0e12},     {90, "h100", 128, 0.5, 3.0e12},     {100, "b200", 128, 0.5, 7.0e12},
    {86, "a40", 128, 1.0 / 64, 0.7e12}, {89, "l40", 128, 1.0 / 64, 0.8e12}, {89, "4090", 128, 1.0 / 64, 0.9e12},
    {0, "mi300x", 128, 0.5, 4.0e12},    {0, "mi250x", 128, 0.5, 1.3e12},    {0, "7900", 256, 1.0 / 32, 0.8e12},
    {0, "a770", 128, 0, 0.45e12},
};
constexpr Generation kUsual{0, "", 128, 1.0 / 32, 1.0e12};
constexpr Generation kIntegrated{0, "", 16, 1.0 / 4, 0};  // shares the host's memory

// True for "A100" in "A100-SXM4" but not in "A1000".
bool names_model(const std::string& name, std::string_view model) {
  const auto at = name.find(model);
  if (at == std::string::npos) return false;
  const std::size_t end = at + model.size();
  return end == name.size() || std::isdigit(static_cast<unsigned char>(name[end])) == 0;
}

Generation generation_of(const DeviceInfo& device) {
  const std::string name = base::lower_case(device.name);
  for (const Generation& generation : kGenerations) {
    if (names_model(name, generation.model)) return generation;
  }
  for (const Generation& generation : kGenerations) {
    if (generation.architecture > 0 && device.limits.architecture == generation.architecture) return generation;
  }
  return device.shares_host_memory ? kIntegrated : kUsual;
}

Ceilings estimate_gpu(const DeviceInfo& device, const DeviceInfo& host) {
  const Generation generation = generation_of(device);
  const double units = static_cast<double>(std::max<std::size_t>(device.limits.compute_units, 1));
  const double clock = (device.clock_ghz > 0 ? device.clock_ghz : 1.5) * 1e9;
  constexpr double flops_of_fma = 2;
  constexpr double bus = 10e9;
  const double host_memory = estimate_host(host).memory().all.copy;
  Ceilings result;
  result.flops_float = units * generation.lanes * flops_of_fma * clock;
  result.flops_double = device.limits.float64 ? result.flops_float * generation.double_share : 0;
  const double bandwidth = generation.bandwidth > 0 ? generation.bandwidth : host_memory;
  result.levels.push_back(memory_level(device.limits, bandwidth, 0));
  result.launch_seconds = 5e-6;
  const double transfer = device.shares_host_memory ? host_memory : bus;
  result.transfers = {transfer, transfer, transfer, transfer, transfer, transfer};
  return result;
}

// --- the saved profile, kept between calls -------------------------------------------------------------------------

// Identifies a version of the file: a replaced file has another inode, a rewritten one another time or size.
using FileIdentity = std::array<long long, 4>;
FileIdentity identity_of(const std::string& file) {
  struct stat status {};
  if (file.empty() || ::stat(file.c_str(), &status) != 0) return {};
  return {static_cast<long long>(status.st_ino), static_cast<long long>(status.st_size),
          static_cast<long long>(status.st_mtim.tv_sec), static_cast<long long>(status.st_mtim.tv_nsec)};
}

std::shared_ptr<const Profile> current_profile() {
  static std::mutex mutex;
  static std::string known_file;
  static FileIdentity known_identity{};
  static std::shared_ptr<const Profile> profile;
  const std::string file = path();
  const FileIdentity identity = identity_of(file);
  const base::ForkGate gate;
  const std::lock_guard lock(mutex);
  if (file != known_file || identity != known_identity) {
    auto loaded = identity == FileIdentity{} ? std::nullopt : load();
    profile = loaded ? std::make_shared<const Profile>(std::move(*loaded)) : nullptr;
    known_file = file;
    known_identity = identity;
  }
  return profile;
}

}  // namespace

Ceilings estimate(const DeviceInfo& device, const DeviceInfo& host) {
  if (device.backend == Backend::host) return estimate_host(device);
  return device.runs_on_host_cores ? estimate_on_host(device, host) : estimate_gpu(device, host);
}

Ceilings ceilings(const Device& device) {
  const DeviceInfo& info = device.info();
  if (const auto profile = current_profile()) {
    const DeviceProfile* saved = profile->find(info.id);
    if (saved != nullptr && saved->fingerprint == info.fingerprint()) return saved->ceilings;
  }
  return estimate(info, ridge::host().info());
}

}  // namespace ridge::machine
