// Replaces parts of the user's file and tracks which line of the file each line of the new text comes from.
#pragma once
#include <string>
#include <vector>

#include "place/program.hpp"

namespace ridge::place {

struct Edit {
  unsigned begin = 0, end = 0;  // byte offsets in the file
  std::string text{};
  std::vector<int> lines{};  // line of the user's file for each line of `text`; empty: taken from the replaced lines
};

struct Text {
  std::string bytes{};
  std::vector<int> lines{};
};

std::vector<int> lines_of(const Program& program);
Text applied(const std::string& old, const std::vector<int>& lines, std::vector<Edit> edits);

}  // namespace ridge::place
