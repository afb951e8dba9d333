#include "cli/output_folder.hpp"

#include <unistd.h>

#include <filesystem>

#include <fmt/format.h>

#include "cli/mistake.hpp"

namespace ridge::cli {

namespace fs = std::filesystem;

void check_output(const std::string& option, const std::string& name) {
  if (name.empty() || name == "-") return;
  std::error_code ignored;
  if (fs::is_directory(name, ignored)) mistake(fmt::format("{} {}: it is a folder", option, name));
  if (fs::is_other(name, ignored)) return;
  const fs::path folder = fs::path(name).has_parent_path() ? fs::path(name).parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored)) {
    mistake(fmt::format("{} {}: there is no folder {}", option, name, folder.string()));
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    mistake(fmt::format("{} {}: the folder {} cannot be written to", option, name, folder.string()));
  }
}

}  // namespace ridge::cli
