// Inserts clocks and counters into the loops and functions of the user's program, and reads their records.
#pragma once
#include <map>
#include <set>
#include <string>
#include <vector>

#include <ridge/place.hpp>

namespace ridge::place::dynamic {

// Source with clocks in the loops of `timed` and in `functions`. With `count`: counters of entries and iterations in
// all loops and functions, and no clocks.
std::string instrumented(const Report& report, const std::string& source, const std::set<std::string>& timed,
                         const std::set<int>& functions, bool count);

// Records that the program writes to the file RIDGE_RUN_OUT: a line per loop or function and caller (number, parent,
// entries, iterations, ns), then a line per evaluated branch and a line per called function.
struct Record {
  int loop = -1;    // index into Report::loops, or -2 minus an index into Report::functions
  int parent = -1;  // index into the list
  double entries = 0, turns = 0, seconds = 0;
};
struct BranchCount {
  std::size_t node = 0;  // index into Report::spine
  double held = 0, failed = 0;
};
struct Records {
  std::vector<Record> loops{};
  std::vector<BranchCount> branches{};
  std::map<int, double> calls{};
  double seconds = 0;  // of the whole run
};
Records read_records(const std::string& text);

}  // namespace ridge::place::dynamic
