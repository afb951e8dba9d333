// Greedy search over legal transformations: each is applied to the source text, which is parsed again, and kept if more
// of the program can be placed. Limited in parses and CPU time; every decision is recorded in the report.
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

struct AnalyzedProgram {
  Program program{};
  Report report{};
  std::map<std::pair<int, int>, std::vector<int>> chains{};  // by function and nest: the loops on the grid
  bool on_host = false;                                      // OpenMP target: loops become threads
};
// Parses and analyzes a changed text. `lines`: line of the user's file for each line of the text.
using Analyze = std::function<AnalyzedProgram(const std::string& text, const std::vector<int>& lines)>;

// The transformed program; empty if it is unchanged. Records in `report` what was tried and what happened to each loop.
std::optional<AnalyzedProgram> search(AnalyzedProgram program, const Analyze& reanalyze, analysis::Memo& memo,
                                      Report& report);

}  // namespace ridge::place::transform
