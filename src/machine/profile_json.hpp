// Converts the profile to and from JSON, for its file, for `--json` and for the report.
#pragma once
#include <string>

#include <ridge/machine.hpp>

#include "base/json_fwd.hpp"

namespace ridge::machine {

base::Json json_of(const Sweep& sweep);
base::Json json_of(const DeviceProfile& device);  // the ceilings' fields are beside id, name and fingerprint
base::Json json_of(const Profile& profile);

// Checks every field: Error{io} names the first that is missing, of the wrong type, out of range or too long.
Profile profile_of(const base::Json& json);

// Indented text, with arrays of plain numbers (and of pairs) kept on one line.
std::string readable(const base::Json& json);

}  // namespace ridge::machine
