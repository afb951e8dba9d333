// The user's own program and data: where the time goes, and whether the placed program does the same.
#pragma once
#include <string>
#include <vector>

#include <ridge/place.hpp>

namespace ridge::place::dynamic {

struct Command {
  std::string line{};              // for the shell; {} is the program that FILE makes
  std::vector<std::string> flags;  // of the compiler, with other sources and libraries of the program
  std::string emit = "ridge", device{};
  double seconds = 600;  // each run may take
};

// Fills in Report::run and functions. Two runs: one counts, one times the loops and functions for which a clock costs
// less than a hundredth.
void measure(Report& report, const std::string& source, const Command& command);

// The original's output and exit code against the placed program's.
struct Sameness {
  bool same = false;
  bool proves = false;  // something was printed, and kernels have run (threads: the same output is all that is asked)
  std::string text{};
  double original_seconds = 0, placed_seconds = 0;
};
Sameness same_output(const Report& report, const std::string& source, const Command& command);

// Exit status and text alike; with `tolerance`, numbers may differ by that share of the larger.
bool alike(const std::string& a, const std::string& b, double tolerance);

}  // namespace ridge::place::dynamic
