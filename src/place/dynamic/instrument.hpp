// The user's program with clocks and counters around its loops.
#pragma once
#include <set>
#include <string>
#include <vector>

#include <ridge/place.hpp>

namespace ridge::place::dynamic {

// Loops in `timed` get a clock; with `count`, all get counters of their entries and turns and none a clock.
std::string instrumented(const Report& report, const std::string& source, const std::set<std::string>& timed,
                         bool count);

// What such a program writes where RIDGE_RUN_OUT says, one line a loop and caller: number, parent, entries, turns, ns.
struct Record {
  int loop = -1, parent = -1;  // into Report::loops; into the list
  double entries = 0, turns = 0, seconds = 0;
};
std::vector<Record> read_records(const std::string& text, double& total_seconds);

}  // namespace ridge::place::dynamic
