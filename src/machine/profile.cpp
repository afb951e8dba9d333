// Finds, reads and saves the profile of this hardware.
#include "machine/profile.hpp"

#include <cmath>
#include <cstdint>
#include <cstdlib>

#include <fmt/format.h>
#include <ridge/machine.hpp>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/log.hpp"

namespace ridge::machine {
namespace {

// FNV-1a folded to 32 bits: only names the file; the key inside the file is compared in full.
std::uint32_t short_hash(const std::string& text) {
  std::uint64_t hash = 0xcbf29ce484222325u;
  for (const unsigned char c : text) hash = (hash ^ c) * 0x100000001b3u;
  return static_cast<std::uint32_t>(hash ^ (hash >> 32));
}

const char* named_file() {
  const char* named = std::getenv("RIDGE_PROFILE");
  return named != nullptr && *named != 0 ? named : nullptr;
}

// The profile of a file, or the reason why it holds none of this hardware ("FILE: reason"). Neither if there is no
// file.
struct Reading {
  std::optional<Profile> profile = {};
  std::string refusal = {};
  bool empty = false;  // overwriting it loses nothing
};

Reading read(const std::string& file, const std::string& hardware) {
  Reading reading;
  try {
    const base::JsonBounds bounds;
    const auto text = base::read_file(file, bounds.bytes);
    if (!text) return reading;
    reading.empty = text->empty();
    try {
      reading.profile = profile_of(base::parse_json(*text, bounds));
    } catch (const Error& error) {
      reading.refusal = fmt::format("{}: {}", file, error.what());
    }
  } catch (const std::exception& error) {  // unreadable, or out of memory
    reading.refusal = error.what();
  }
  if (reading.profile && reading.profile->hardware != hardware) {
    reading.refusal = fmt::format("{}: measured on other hardware ({:.160})", file, reading.profile->hardware);
    reading.profile.reset();
  }
  return reading;
}

// The first two and the last doubt: contradictions come first, the load of other processes last.
std::string summary(const std::vector<std::string>& doubts) {
  if (doubts.size() <= 3) return fmt::format("{}", fmt::join(doubts, "; "));
  return fmt::format("{}; {}; {} more; {}", doubts[0], doubts[1], doubts.size() - 3, doubts.back());
}

// A file in the cache folder may be replaced. A file that the user named may be anything.
std::string why_kept(const std::string& hardware) {
  const char* file = named_file();
  if (file == nullptr) return "";
  const Reading reading = read(file, hardware);
  if (reading.refusal.empty() || reading.empty) return "";
  return fmt::format("RIDGE_PROFILE names a file that is not overwritten: {}; remove it or name another file",
                     reading.refusal);
}

}  // namespace

const DeviceProfile* Profile::find(const std::string& id) const {
  for (const DeviceProfile& device : devices) {
    if (device.id == id) return &device;
  }
  return nullptr;
}

// Starts no driver, so that a saved profile is read in milliseconds. Details that only a driver knows are in the
// devices' fingerprints, which ceilings() compares.
std::string hardware_key() {
  const DeviceInfo& host = ridge::host().info();
  // Rounded, because the kernel reserves a varying amount of memory at each boot.
  const double gibibytes = std::round(static_cast<double>(host.limits.memory) / (1u << 30));
  std::string key = fmt::format("{}, {} cores, {}, {} GiB", host.name, host.limits.compute_units, host.isa, gibibytes);
  for (const std::string& part : accelerator_inventory()) key += "; " + part;
  return key;
}

std::string profile_file_name(const std::string& hardware_key) {
  return fmt::format("machine-{:08x}.json", short_hash(hardware_key));
}

std::string path() {
  if (const char* named = named_file()) return named;
  const auto folder = base::cache_folder();
  return folder.empty() ? "" : (folder / profile_file_name(hardware_key())).string();
}

std::string kept_file() { return why_kept(hardware_key()); }

std::optional<Profile> load() {
  const std::string file = path();
  if (file.empty()) return std::nullopt;
  Reading reading = read(file, hardware_key());
  if (!reading.refusal.empty())
    base::warn(fmt::format("{}; the profile is ignored{}", reading.refusal,
                           named_file() != nullptr ? "" : ", `ridge machine` measures a new one"));
  return std::move(reading.profile);
}

bool save(const Profile& profile) {
  const auto not_saved = [](const std::string& reason) {
    base::warn("the machine's profile is not saved: " + reason);
    return false;
  };
  if (!profile.doubts.empty()) return not_saved(summary(profile.doubts) + ". Measure again on a quiet machine");
  const std::string file = path();
  if (file.empty()) return not_saved("there is no cache folder that can be written; set RIDGE_CACHE_DIR");
  if (const std::string kept = why_kept(profile.hardware); !kept.empty()) return not_saved(kept);
  try {
    const std::string text = to_json(profile);
    from_json(text);  // text that cannot be read back must not replace a valid file
    base::write_file(file, text);
    return true;
  } catch (const Error& error) {
    return not_saved(error.what());
  }
}

}  // namespace ridge::machine
