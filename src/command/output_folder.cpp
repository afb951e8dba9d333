// Checks that outputs are writable, and that no output is an input or another output.
#include "command/output_folder.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "command/options.hpp"

namespace ridge::cli {

namespace fs = std::filesystem;

namespace {

using FileIdentity = std::pair<dev_t, ino_t>;

// Identity of a regular file. Devices have none: two outputs to a terminal or /dev/null do not conflict.
std::optional<FileIdentity> identity_of(const std::string& name, int standard_stream) {
  struct stat status {};
  const int found = name == "-" ? ::fstat(standard_stream, &status) : ::stat(name.c_str(), &status);
  if (found != 0 || !S_ISREG(status.st_mode)) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

// A unique path per file, also for files that do not exist.
fs::path canonical_path(const std::string& name) {
  std::error_code error;
  const fs::path whole = fs::absolute(name, error);
  const fs::path found = fs::weakly_canonical(whole, error);
  return error ? whole : found;
}

// Compares names of files that need not exist.
bool same_name(const std::string& a, const std::string& b) {
  std::error_code ignored;
  if (a.empty() || a == "-" || b == "-" || a.starts_with("ring:") != b.starts_with("ring:") || fs::is_other(a, ignored))
    return false;
  return a == b || canonical_path(a) == canonical_path(b);
}

bool begins_with(const std::string& name, const std::string& prefix) {
  return canonical_path(name).string().starts_with(canonical_path(prefix).string());
}

std::string shown(const NamedFile& file) { return fmt::format("{} {}", file.option, file.name); }

}  // namespace

void check_distinct(const std::vector<NamedFile>& inputs, const std::vector<NamedFile>& outputs) {
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    const NamedFile& output = outputs[i];
    const auto identity = identity_of(output.name, STDOUT_FILENO);
    for (const NamedFile& input : inputs) {
      const auto other = identity_of(input.name, STDIN_FILENO);
      if ((identity && identity == other) || same_name(output.name, input.name) ||
          (output.is_prefix && begins_with(input.name, output.name)))
        mistake(fmt::format("{}: this is also the input ({}); name another output", shown(output), shown(input)));
    }
    for (std::size_t j = 0; j < i; ++j) {
      if (same_name(output.name, outputs[j].name))
        mistake(
            fmt::format("{} and {} name the same file; give each output its own", shown(outputs[j]), shown(output)));
    }
  }
}

void check_output_folder(const std::string& option, const std::string& name) {
  if (name.empty()) return;
  std::error_code ignored;
  fs::path there = fs::absolute(name, ignored);
  while (!fs::exists(there, ignored) && there.has_parent_path() && there != there.parent_path())
    there = there.parent_path();
  if (!fs::is_directory(there, ignored))
    mistake(fmt::format("{} {}: needs a folder, but {} is a file", option, name, there.string()));
  if (::access(there.c_str(), W_OK) != 0)
    mistake(fmt::format("{} {}: the folder {} is not writable", option, name, there.string()));
}

void check_output(const std::string& option, const std::string& name) {
  if (name.empty() || name == "-" || name.starts_with("ring:")) return;
  if (name.starts_with("udp://"))
    mistake(fmt::format("{} {}: an address is no output; ridge capture needs ADDRESS OUT", option, name));
  std::error_code ignored;
  if (fs::is_directory(name, ignored)) mistake(fmt::format("{} {}: it is a folder", option, name));
  if (fs::is_other(name, ignored)) return;
  const fs::path folder = fs::path(name).has_parent_path() ? fs::path(name).parent_path() : fs::path(".");
  if (!fs::is_directory(folder, ignored)) {
    mistake(fmt::format("{} {}: there is no folder {}", option, name, folder.string()));
  }
  if (::access(folder.c_str(), W_OK) != 0) {
    mistake(fmt::format("{} {}: the folder {} is not writable", option, name, folder.string()));
  }
}

}  // namespace ridge::cli
