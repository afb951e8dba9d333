// Wisdom kept in memory for the lifetime of the process.
#pragma once
#include <optional>
#include <string>

#include <ridge/wisdom.hpp>

namespace ridge::wisdom {

// An imported winner that this version of the library measured.
std::optional<Entry> find_imported(const std::string& fingerprint, const std::string& workload,
                                   const std::string& problem);

// Forgets the entries of one workload, or all if it is empty. Returns their number.
std::size_t forget_in_memory_of(const std::string& workload);

}  // namespace ridge::wisdom
