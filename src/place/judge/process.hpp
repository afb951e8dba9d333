// Programs run beside this one, in a folder that ends with them.
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "base/temporaries.hpp"

namespace ridge::place::judge {

// A temporary folder that stays where RIDGE_PLACE_KEEP is set.
class Folder {
 public:
  Folder();
  const std::filesystem::path& path() const { return folder_.path(); }

 private:
  base::TemporaryFolder folder_;
};

// Exit code, or -1 when it was killed or took too long; what it printed is in `log`.
int run(const std::vector<std::string>& command, const std::vector<std::pair<std::string, std::string>>& environment,
        const std::filesystem::path& log, double seconds);
std::string first_lines(const std::filesystem::path& log);  // from the first error on

}  // namespace ridge::place::judge
