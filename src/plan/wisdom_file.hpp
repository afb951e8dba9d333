// Wisdom as text: one entry a line, so that a person can read it and a diff shows what changed.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <ridge/wisdom.hpp>

#include "base/json.hpp"

namespace ridge::wisdom {

// The oldest are dropped beyond these: a full file still loads in a few tens of milliseconds.
inline constexpr std::size_t kMostEntries = 20'000;
inline constexpr base::JsonBounds kBounds{.bytes = 16u << 20, .depth = 4, .values = 1u << 20};

struct Stored {
  Entry entry;
  std::string version;  // of the library that measured it: a newer one may have faster variants
  Rigor rigor = Rigor::measured;
};

std::string this_version();

// The same for the same problem on the same device, by the same version.
std::string key_of(const std::string& fingerprint, const std::string& workload, const std::string& problem,
                   const std::string& version);
std::string key_of(const Entry& entry, const std::string& version);

// Oldest first. Error{io} when it is no wisdom; entries that cannot be right are left out and counted in `skipped`.
std::vector<Stored> from_json(const base::Json& file, std::size_t& skipped);

// What from_json reads back, within its bounds.
std::string to_text(const std::vector<Stored>& entries);

}  // namespace ridge::wisdom
