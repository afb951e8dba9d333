// The text format of wisdom: one entry per line, readable and easy to diff.
#pragma once
#include <string>
#include <string_view>
#include <vector>

#include <ridge/wisdom.hpp>

#include "base/json.hpp"

namespace ridge::wisdom {

// The oldest entries are dropped beyond these limits: a full file still loads in a few tens of milliseconds.
inline constexpr std::size_t kMostEntries = 20'000;
inline constexpr base::JsonBounds kBounds{.bytes = 16u << 20, .depth = 4, .values = 1u << 20};

struct Stored {
  Entry entry;
  std::string version;  // version of the library that measured it: a newer one may have faster variants
  Rigor rigor = Rigor::measured;
};

std::string this_version();

// Equal for the same problem on the same device with the same library version.
std::string key_of(const std::string& fingerprint, const std::string& workload, const std::string& problem,
                   const std::string& version);
std::string key_of(const Entry& entry, const std::string& version);

// Entries, oldest first. Error{io} if the file is not wisdom. Invalid entries are omitted and counted in `skipped`.
std::vector<Stored> from_json(const base::Json& file, std::size_t& skipped);

// Text that from_json reads back, within its limits.
std::string to_text(const std::vector<Stored>& entries);

}  // namespace ridge::wisdom
