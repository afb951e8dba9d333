// The search for better versions of a program: transformations that are legal are tried one at a time, and kept when
// more of the program can be placed. Bounded in readings and in time; every decision is written down.
#pragma once
#include <functional>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <ridge/place.hpp>

#include "place/program.hpp"

namespace ridge::place::analysis {
class Memo;
}

namespace ridge::place::transform {

struct Judged {
  Program program{};
  Report report{};
  std::map<std::pair<int, int>, std::vector<int>> chains{};  // by function and nest: loops on the grid
  bool on_host = false;                                      // loops become threads
};
// Lines: where those of the new text stood in the user's file.
using Judge = std::function<Judged(const std::string& text, const std::vector<int>& lines)>;

// The program as it has become; nothing where it stays as it is. What was tried, and what the loops of `report` have
// become, is noted in it.
std::optional<Judged> search(Judged program, const Judge& judge, analysis::Memo& memo, Report& report);

}  // namespace ridge::place::transform
