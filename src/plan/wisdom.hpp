// What the planner asks of wisdom. Neither call throws: wisdom is a help, never a condition.
#pragma once
#include <optional>
#include <string>

#include <ridge/plan.hpp>

namespace ridge::wisdom {

// Microseconds once the file has been read; it is read again when another process has replaced it.
std::optional<Entry> find(const std::string& fingerprint, const std::string& workload, const std::string& problem);

// Replaces what was known of the same problem on the same device. Where it cannot be written: a warning, and it is
// remembered as long as this process lives.
void remember(const Entry& entry);

}  // namespace ridge::wisdom
