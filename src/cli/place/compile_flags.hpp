// Flags of the compiler as the project's own build has them.
#pragma once
#include <string>
#include <vector>

namespace ridge::cli {

// Of the file, from compile_commands.json or the folder that has one. Error{invalid_argument} where there is none.
std::vector<std::string> compile_flags(const std::string& database, const std::string& file);

}  // namespace ridge::cli
