// The part of wisdom that lives and ends with the process.
#pragma once
#include <optional>
#include <string>

#include <ridge/wisdom.hpp>

namespace ridge::wisdom {

// A measured winner that was imported, where this version of the library found it.
std::optional<Entry> find_imported(const std::string& fingerprint, const std::string& workload,
                                   const std::string& problem);

// Of one workload, or all where it is empty.
std::size_t forget_in_memory_of(const std::string& workload);

}  // namespace ridge::wisdom
