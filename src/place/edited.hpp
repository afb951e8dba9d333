// The user's file with parts of it replaced, and where the lines of the new text come from.
#pragma once
#include <string>
#include <vector>

#include "place/program.hpp"

namespace ridge::place {

struct Edit {
  unsigned begin = 0, end = 0;  // bytes of the file
  std::string text{};
  std::vector<int> lines{};  // of the user's file: that of each of its lines; empty: as they are replaced
};

struct Text {
  std::string bytes{};
  std::vector<int> lines{};
};

std::vector<int> lines_of(const Program& program);
Text applied(const std::string& old, const std::vector<int>& lines, std::vector<Edit> edits);

}  // namespace ridge::place
