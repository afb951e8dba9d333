// Wisdom without a file: what this process has found out or was given, as text.
#pragma once
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include <ridge/plan.hpp>

namespace ridge::wisdom {

// How a winner was found; what comes later here outweighs what comes before it.
enum class Rigor { estimated, measured, patient };

// What has been measured, gathered or imported since this process began or forget_in_memory() was called: one JSON
// object of the same kind as the file's, with the rigor of each entry.
std::string export_text();

// Takes such an object over, or a wisdom file's; whatever follows it is ignored. Plans made from now on use its
// measured winners where the file knows none. Returns how many entries were taken. Error{io} says why it is no wisdom,
// and then nothing is taken.
std::size_t import_text(std::string_view text);

// Returns how many; wisdom.json stays as it is.
std::size_t forget_in_memory();

// Adds one to the memory alone, for a caller that keeps account of plans it only estimated.
void gather(const Entry& entry, Rigor rigor);
// The best that the memory holds of a problem on a device.
std::optional<Rigor> rigor_in_memory(const std::string& fingerprint, const std::string& workload,
                                     const std::string& problem);

}  // namespace ridge::wisdom
