// The profile as JSON values, for the file, for `--json` and for the report.
#pragma once
#include <string>

#include <ridge/machine.hpp>

#include "base/json_fwd.hpp"

namespace ridge::machine {

base::Json json_of(const Sweep& sweep);
base::Json json_of(const DeviceProfile& device);  // the ceilings' fields stand beside id, name and fingerprint
base::Json json_of(const Profile& profile);

// Every field is checked: Error{io} names the first that is missing, of the wrong type, out of range or too many.
Profile profile_of(const base::Json& json);

// Indented for a person, with arrays of plain numbers (and of pairs) kept on one line.
std::string readable(const base::Json& json);

}  // namespace ridge::machine
