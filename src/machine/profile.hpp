// The saved profile: which machine it belongs to and where it lies.
#pragma once
#include <string>

namespace ridge::machine {

// Processor model, cores, SIMD set, memory, and the signs of accelerators and their drivers: whatever must stay the
// same for saved measurements to stay true. A line a person can read.
std::string hardware_key();

// "machine-1a2b3c4d.json". Named by the hardware so that machines that share a home folder do not overwrite each other.
std::string profile_file_name(const std::string& hardware_key);

// Why save() would keep the file that RIDGE_PROFILE names: it holds something else than a profile of this hardware.
// Empty where it may be written.
std::string kept_file();

}  // namespace ridge::machine
