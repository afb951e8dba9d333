// Runs the user's own program on its own data: measures its loops and functions, and compares the placed program's
// output.
#pragma once
#include <string>
#include <vector>

#include <ridge/place.hpp>

namespace ridge::place::dynamic {

struct Command {
  std::string line{};              // shell command; {} is the program built from FILE
  std::vector<std::string> flags;  // compiler flags, with other sources and libraries of the program
  std::string emit = "ridge", device{};
  bool threads = false;  // the placed program also uses threads of the host
  double seconds = 600;  // time limit per run
  int runs = 1;          // of the original and of the placed program, alternately
};

// Fills in Report::run, functions and branches. Two runs: one counts; one times the loops and functions for which
// clocks cost less than 1 % of the run time.
void measure(Report& report, const std::string& source, const Command& command);

// Compares output and exit code of the original and the placed program.
struct OutputComparison {
  bool same = false;
  bool proves = false;  // something was printed, and a kernel was launched or threads were started
  std::string text{};
  double original_seconds = 0, placed_seconds = 0;  // medians of Command::runs
  std::string spread{};                             // least, median and greatest times of several runs
};
OutputComparison same_output(const Report& report, const std::string& source, const Command& command);

// True if the texts are equal; with `tolerance`, numbers may differ by that fraction of the larger one.
bool alike(const std::string& a, const std::string& b, double tolerance);
// The first line in which `b` differs from `a`, with both texts, for an error; "" if they are equal.
std::string first_difference(const std::string& a, const std::string& b, double tolerance);

}  // namespace ridge::place::dynamic
