// The saved profile: the hardware it belongs to, its file, and its conversion to JSON.
#pragma once
#include <string>

#include <ridge/machine.hpp>

#include "base/json_fwd.hpp"

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

// For the file, for `--json` and for the report.
base::Json json_of(const Sweep& sweep);
base::Json json_of(const DeviceProfile& device);  // the ceilings' fields are beside id, name and fingerprint
base::Json json_of(const Profile& profile);

// Checks every field: Error{io} names the first that is missing, of the wrong type, out of range or too long.
Profile profile_of(const base::Json& json);

// Indented text, with arrays of plain numbers (and of pairs) kept on one line.
std::string readable(const base::Json& json);

// Accelerators and drivers of the machine from system files, without starting a driver.
// Display and compute cards on the PCI bus, the NVIDIA module's version, the registered OpenCL drivers, and the
// settings of Ridgeline that hide or restrict devices. Sorted; empty if there are none.
std::vector<std::string> accelerator_inventory();

}  // namespace ridge::machine
