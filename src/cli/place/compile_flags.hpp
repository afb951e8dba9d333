// Compiler flags of a file, read from the project's compile_commands.json.
#pragma once
#include <string>
#include <vector>

namespace ridge::cli {

// `database` is compile_commands.json or the folder that contains it. Error{invalid_argument} if it has no entry for
// the file.
std::vector<std::string> compile_flags(const std::string& database, const std::string& file);

}  // namespace ridge::cli
