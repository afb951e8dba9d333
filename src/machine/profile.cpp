#include "machine/profile.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>
#include <ridge/machine.hpp>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "machine/accelerator_signs.hpp"
#include "machine/profile_json.hpp"

namespace ridge::machine {
namespace {

// FNV-1a, folded to 32 bits: names a file, guards nothing (the key inside the file is compared whole).
std::uint32_t short_hash(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

std::optional<Profile> read(const std::string& file) {
  const auto json = base::read_json_or_warn(file);
  if (!json) return std::nullopt;
  Profile profile;
  try {
    profile = profile_of(*json);
  } catch (const Error& error) {
    base::warn(fmt::format("{}: {}; the profile is ignored, `ridge machine` measures a new one", file, error.what()));
    return std::nullopt;
  }
  if (profile.hardware != hardware_key()) {
    base::warn(
        fmt::format("{}: measured on other hardware ({:.160}); the profile is ignored, `ridge machine` measures "
                    "this machine",
                    file, profile.hardware));
    return std::nullopt;
  }
  return profile;
}

}  // namespace

const DeviceProfile* Profile::find(const std::string& id) const {
  for (const DeviceProfile& device : devices) {
    if (device.id == id) return &device;
  }
  return nullptr;
}

// Nothing here starts a driver, so that a saved profile is read in milliseconds. What a driver would tell of its
// devices is in their fingerprints, which ceilings() compares.
std::string hardware_key() {
  const DeviceInfo& host = ridge::host().info();
  // The kernel keeps a little memory for itself, more or less of it from boot to boot.
  const double gibibytes = std::round(static_cast<double>(host.limits.memory) / (1u << 30));
  std::string key = fmt::format("{}, {} cores, {}, {} GiB", host.name, host.limits.compute_units, host.isa, gibibytes);
  for (const std::string& part : accelerator_signs()) key += "; " + part;
  return key;
}

std::string profile_file_name(const std::string& hardware_key) {
  return fmt::format("machine-{:08x}.json", short_hash(hardware_key));
}

std::string path() {
  if (const char* named = std::getenv("RIDGE_PROFILE"); named != nullptr && *named != 0) return named;
  const auto folder = base::cache_folder();
  return folder.empty() ? "" : (folder / profile_file_name(hardware_key())).string();
}

std::optional<Profile> load() {
  const std::string file = path();
  if (file.empty()) return std::nullopt;
  try {
    return read(file);
  } catch (
      const std::exception& error) {  // no memory for it, a folder that vanished: a profile is never worth a failure
    base::warn(fmt::format("{}: {}; the profile is ignored", file, error.what()));
    return std::nullopt;
  }
}

void save(const Profile& profile) {
  const std::string file = path();
  if (file.empty()) {
    base::warn("the machine's profile is not saved: there is no cache folder that can be written; set RIDGE_CACHE_DIR");
    return;
  }
  try {
    const std::string text = to_json(profile);
    from_json(text);  // what could not be read back must not replace what can
    base::write_file(file, text);
  } catch (const Error& error) {
    base::warn(fmt::format("the machine's profile is not saved: {}", error.what()));
  }
}

}  // namespace ridge::machine
