// Progress bar on a terminal; silent in a pipe.
#pragma once
#include <functional>
#include <string>

namespace ridge::base {

// Called with the completed fraction in [0, 1] and a description of the current work.
using Progress = std::function<void(double share, const std::string& what)>;

// Draws on stderr, at most ten times per second, if it is a terminal; otherwise does nothing. Clears its line when the
// fraction reaches 1. Only one thread may call it at a time.
Progress terminal_progress();

// Clears the line of a visible bar before other text (results, errors) is printed.
void clear_progress();

}  // namespace ridge::base
