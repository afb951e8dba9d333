// A folder that is not there should not show after hours of computing.
#pragma once
#include <string>

namespace ridge::cli {

// A mistake where what `option` names could not be written: no such folder, one that is closed, or the name of a
// folder. Nothing for an empty name, standard output and what is no file (/dev/null).
void check_output(const std::string& option, const std::string& name);

}  // namespace ridge::cli
