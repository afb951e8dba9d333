// Runs a child process with a time limit, in a temporary folder.
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/temporaries.hpp"

namespace ridge::place::judge {

// Temporary folder; kept if RIDGE_PLACE_KEEP is set.
class Folder {
 public:
  Folder();
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  base::TemporaryFolder folder_;
};

// Exit code, or -1 if the process was killed or exceeded its time limit; its output goes to `log`.
int run(const std::vector<std::string>& command, const std::vector<std::pair<std::string, std::string>>& environment,
        const std::filesystem::path& log, double seconds);
std::string first_lines(const std::filesystem::path& log);  // the first error line, at most 300 characters

}  // namespace ridge::place::judge
