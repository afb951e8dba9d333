// Wisdom in memory: exports, imports and clears the planner's measured winners as text.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <ridge/plan.hpp>

namespace ridge::wisdom {

// How a winner was found; later values take precedence over earlier ones.
enum class Rigor { estimated, measured, patient };

// Everything measured, gathered or imported since the process started or forget_in_memory() was called: one JSON object
// in the format of the wisdom file, with the rigor of each entry.
std::string export_text();

// Imports such an object or the contents of a wisdom file; text after the object is ignored. Later plans use its
// measured winners for problems that the file does not contain. Returns the number of imported entries. Error{io} with
// the reason if the text is not wisdom; nothing is then imported.
std::size_t import_text(std::string_view text);

// Returns the number of removed entries; wisdom.json is not changed.
std::size_t forget_in_memory();

// Adds one entry in memory only, for callers that record plans which were only estimated.
void gather(const Entry& entry, Rigor rigor);
// The highest rigor in memory for a problem on a device.
std::optional<Rigor> rigor_in_memory(const std::string& fingerprint, const std::string& workload,
                                     const std::string& problem);

}  // namespace ridge::wisdom
