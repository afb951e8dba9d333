// Looks up and stores measured winners. Neither call throws: planning works without wisdom.
#pragma once
#include <optional>
#include <string>
#include <vector>

#include <ridge/plan.hpp>
#include <ridge/wisdom.hpp>

namespace ridge::wisdom {

// Takes microseconds once the file has been read. Reads the file again if another process has replaced it.
std::optional<Entry> find(const std::string& fingerprint, const std::string& workload, const std::string& problem);
// Also searches the shipped wisdom if this machine has measured nothing.
std::optional<Entry> find(const DeviceInfo& device, const std::string& workload, const std::string& problem);

// Replaces the entry of the same problem on the same device. If the file cannot be written, warns and keeps the entry
// for the lifetime of this process.
void remember(const Entry& entry);

// Wisdom kept in memory for the lifetime of the process.

// An imported winner that this version of the library measured.
std::optional<Entry> find_imported(const std::string& fingerprint, const std::string& workload,
                                   const std::string& problem);

// Forgets the entries of one workload, or all if it is empty. Returns their number.
std::size_t forget_in_memory_of(const std::string& workload);

// Shipped wisdom: winners measured by packagers, for every device of the same name. An installed file
// (ridge-wisdom.json where plugins are installed, or the file named by RIDGE_SHIPPED_WISDOM; "off": none), read once.

std::optional<Entry> find_shipped(const DeviceInfo& device, const std::string& workload, const std::string& problem);

std::vector<Entry> all_of_this_version();

// The measured, unpinned entries of this version and of one workload (empty: all) as the text of such a file.
std::string text_to_ship(const std::string& workload);

}  // namespace ridge::wisdom
