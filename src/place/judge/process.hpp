// Programs run beside this one, in a folder that ends with them.
#pragma once
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace ridge::place::judge {

class Folder {
 public:
  Folder();   // Error{io} where there is no room for one
  ~Folder();  // removes it, unless RIDGE_PLACE_KEEP is set
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Exit code, or -1 when it was killed or took too long; what it printed is in `log`.
int run(const std::vector<std::string>& command, const std::vector<std::pair<std::string, std::string>>& environment,
        const std::filesystem::path& log, double seconds);
std::string first_lines(const std::filesystem::path& log);  // from the first error on

}  // namespace ridge::place::judge
