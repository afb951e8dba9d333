// The saved profile: the hardware it belongs to and its file.
#pragma once
#include <string>

namespace ridge::machine {

// Everything on which saved measurements depend, as one readable line: processor model, cores, SIMD set, memory,
// accelerators and their drivers.
std::string hardware_key();

// "machine-1a2b3c4d.json". Named after the hardware, so that machines that share a home folder do not overwrite each
// other's profile.
std::string profile_file_name(const std::string& hardware_key);

// The reason why save() would not overwrite the file that RIDGE_PROFILE names: it holds something other than a profile
// of this hardware. Empty if it may be written.
std::string kept_file();

}  // namespace ridge::machine
