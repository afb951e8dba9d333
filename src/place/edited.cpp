// Applies edits to a text and keeps the line table.
#include "place/edited.hpp"

#include <algorithm>
#include <numeric>

namespace ridge::place {

std::vector<int> lines_of(const Program& program) {
  if (!program.lines.empty()) return program.lines;
  std::vector<int> lines(1 + static_cast<std::size_t>(std::count(program.text.begin(), program.text.end(), '\n')));
  std::iota(lines.begin(), lines.end(), 1);
  return lines;
}

// Without Edit::lines, inserted lines are numbered from the first line that they replace.
Text applied(const std::string& old, const std::vector<int>& lines, std::vector<Edit> edits) {
  std::stable_sort(edits.begin(), edits.end(), [](const Edit& a, const Edit& b) { return a.begin < b.begin; });
  Text result;
  std::size_t at = 0;  // index of the current line of the old text
  result.lines.push_back(lines[at]);
  const auto keep = [&](std::size_t from, std::size_t to) {
    for (std::size_t i = from; i < to; ++i) {
      result.bytes += old[i];
      if (old[i] == '\n') result.lines.push_back(lines[++at]);
    }
  };
  unsigned from = 0;
  for (const Edit& e : edits) {
    keep(from, e.begin);
    const auto end = at + static_cast<std::size_t>(std::count(old.begin() + e.begin, old.begin() + e.end, '\n'));
    std::size_t inner = at, given = 0;
    for (const char c : e.text) {
      result.bytes += c;
      if (c != '\n') continue;
      inner = std::min(inner + 1, end);
      ++given;
      result.lines.push_back(given < e.lines.size() ? e.lines[given] : lines[inner]);
    }
    at = end;
    from = e.end;
  }
  keep(from, old.size());
  return result;
}

}  // namespace ridge::place
