// Reads the corpus in tests/place/cases: functions with their expected verdicts.
#pragma once
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <ridge/error.hpp>
#include <ridge/place.hpp>

namespace place_test {

struct Case {
  std::string file, function;
  std::string shown;  // name in reports: Grid::relax is shown as Grid_relax, Blur::operator() as Blur_call
  std::map<std::string, std::string> loops;  // l1 -> parallel, sequential:flow, reduction
  int kernels = -1, tiles = -1, constants = -1;
  std::string says, by, not_by, without,
      emit = "ridge";  // not_by: must be refused because a dependence would be reversed; without: must not be applied
  bool run = false, met = false;  // met: NAME_met() calls it with overlapping arguments
};

inline std::filesystem::path folder() { return std::filesystem::path(RIDGE_TEST_PLACE) / "cases"; }

inline std::vector<Case> cases() {
  std::vector<Case> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() != ".cpp" && entry.path().extension() != ".c") continue;
    std::ifstream in(entry.path());
    for (std::string line; std::getline(in, line);) {
      if (line.rfind("//: ", 0) != 0) continue;
      std::istringstream words(line.substr(4));
      Case c;
      c.file = entry.path().string();
      words >> c.function;
      c.shown = c.function;
      if (const auto at = c.shown.find("operator()"); at != std::string::npos) c.shown.replace(at, 10, "call");
      if (const auto at = c.shown.find("::"); at != std::string::npos) c.shown.replace(at, 2, "_");
      for (std::string word; words >> word;) {
        const auto equal = word.find('=');
        const std::string name = word.substr(0, equal),
                          value = equal == std::string::npos ? "" : word.substr(equal + 1);
        if (word == "run")
          c.run = true;
        else if (word == "met")
          c.met = true;
        else if (name == "kernels")
          c.kernels = std::stoi(value);
        else if (name == "tiles")
          c.tiles = std::stoi(value);
        else if (name == "constants")
          c.constants = std::stoi(value);
        else if (name == "says")
          c.says = value;
        else if (name == "by")
          c.by = value;
        else if (name == "emit")
          c.emit = value;
        else if (name == "not")
          c.not_by = value;
        else if (name == "without")
          c.without = value;
        else
          c.loops[name] = value;
      }
      all.push_back(c);
    }
  }
  return all;
}

inline bool in_c(const std::string& file) { return std::filesystem::path(file).extension() == ".c"; }

// "parallel", "reduction" or "sequential:flow".
inline std::string verdict(const ridge::place::LoopVerdict& l) {
  if (l.parallel) return l.reductions.empty() ? "parallel" : "reduction";
  return l.dependences.empty() ? "sequential" : "sequential:" + l.dependences[0].kind;
}

inline bool agrees(const std::string& expected, const std::string& found) {
  return expected == found || (expected == "sequential" && found.rfind("sequential", 0) == 0);
}

inline bool available(std::string& why) {
  setenv("PLACED_ALWAYS", "1", 1);  // threads also in programs that are too small for them
  ridge::place::Options options;
  options.function = "none";
  try {
    ridge::place::analyze("/nonexistent.cpp", options);
    return true;
  } catch (const ridge::Error& error) {
    why = error.what();
    if (why.find("no placement compiler") == std::string::npos) throw;  // present but broken
    return false;
  }
}

}  // namespace place_test
