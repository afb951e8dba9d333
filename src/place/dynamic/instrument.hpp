// The user's program with clocks and counters around its loops and in its functions.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include <ridge/place.hpp>

namespace ridge::place::dynamic {

// Loops in `timed` and functions in `functions` get a clock; with `count`, all get counters of their entries and turns
// and none a clock.
std::string instrumented(const Report& report, const std::string& source, const std::set<std::string>& timed,
                         const std::set<int>& functions, bool count);

// What such a program writes where RIDGE_RUN_OUT says, a line a loop or function and caller: number, parent, entries,
// turns, ns; then a line a branch that was asked, and a line a function that was called.
struct Record {
  int loop = -1, parent = -1;  // into Report::loops, or -2 less a place in Report::functions; into the list
  double entries = 0, turns = 0, seconds = 0;
};
struct Asked {
  std::size_t node = 0;  // into Report::spine
  double held = 0, failed = 0;
};
struct Records {
  std::vector<Record> loops{};
  std::vector<Asked> branches{};
  std::map<int, double> calls{};
  double seconds = 0;  // of the whole run
};
Records read_records(const std::string& text);

}  // namespace ridge::place::dynamic
