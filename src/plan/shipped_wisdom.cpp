// Wisdom that is installed with the library and identified by the device's name instead of its fingerprint, which also
// contains the driver.
#include <cstdlib>
#include <filesystem>
#include <map>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>
#include <ridge/error.hpp>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/library.hpp"
#include "base/log.hpp"
#include "plan/wisdom.hpp"
#include "plan/wisdom_file.hpp"

namespace ridge::wisdom {
namespace {

constexpr const char* kFile = "ridge-wisdom.json";

// "cuda NVIDIA H200" for the id "cuda:0" and that name.
std::string shipped_fingerprint(const std::string& id, const std::string& name) {
  return fmt::format("{} {}", id.substr(0, id.find(':')), name);
}

// Recorded devices use the choices of the device that they describe: shipped kernels are built from them.
std::string shipped_fingerprint(const DeviceInfo& device) {
  const bool recorded = device.id.starts_with("recorded:");
  return shipped_fingerprint(recorded ? to_string(device.backend) : device.id, device.name);
}

// From an entry's device, "cuda:0 (NVIDIA H200)".
std::string shipped_fingerprint(const std::string& device) {
  const std::size_t space = device.find(" (");
  if (space == std::string::npos || device.back() != ')') return shipped_fingerprint(device, "");
  return shipped_fingerprint(device.substr(0, space), device.substr(space + 2, device.size() - space - 3));
}

using Entries = std::unordered_map<std::string, Entry>;

// `named`: the value of RIDGE_SHIPPED_WISDOM.
Entries read_shipped(const std::string& named) {
  if (named == "off") return {};
  const std::filesystem::path path = named.empty() ? base::find_plugin(kFile) : std::filesystem::path(named);
  if (path.empty()) return {};
  Entries entries;
  try {
    const auto file = base::read_json_or_warn(path, kBounds);
    if (!file) return {};
    std::size_t skipped = 0;
    for (Stored& stored : from_json(*file, skipped)) {
      stored.entry.shipped = true;
      entries.insert_or_assign(key_of(stored.entry, stored.version), std::move(stored.entry));
    }
    if (skipped > 0) base::warn(fmt::format("{}: {} damaged entries are ignored", path.string(), skipped));
  } catch (const Error& error) {
    base::warn(fmt::format("{}: {}; shipped wisdom is not used", path.string(), error.what()));
  }
  return entries;
}

// Each file is read once.
const Entries& shipped() {
  static std::mutex mutex;
  static auto* const files = new std::map<std::string, Entries>;  // never destroyed: static objects may still plan
  const char* given = std::getenv("RIDGE_SHIPPED_WISDOM");
  std::string named = given != nullptr ? given : "";
  const std::lock_guard lock(mutex);
  const auto known = files->find(named);
  return known != files->end() ? known->second : files->emplace(named, read_shipped(named)).first->second;
}

}  // namespace

std::optional<Entry> find_shipped(const DeviceInfo& device, const std::string& workload, const std::string& problem) {
  const Entries& entries = shipped();
  if (entries.empty()) return std::nullopt;
  const auto found =
      entries.find(key_of(shipped_fingerprint(device), workload, problem, this_version()));
  return found == entries.end() ? std::nullopt : std::optional(found->second);
}

std::string text_to_ship(const std::string& workload) {
  std::vector<Stored> entries;
  for (Entry& entry : all_of_this_version()) {
    if (entry.pinned || (!workload.empty() && entry.workload != workload)) continue;
    entry.fingerprint = shipped_fingerprint(entry.device);
    entries.push_back({std::move(entry), this_version()});
  }
  if (entries.empty()) {
    throw Error(ErrorKind::invalid_argument, fmt::format("{} has no measured choices{}: nothing to ship", path(),
                                                         workload.empty() ? "" : fmt::format(" of {}", workload)));
  }
  return to_text(entries);
}

}  // namespace ridge::wisdom
