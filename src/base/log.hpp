// Messages to stderr: warnings, one line each and each text once per process; progress of long work on a terminal.
#pragma once
#include <functional>
#include <string>

namespace ridge::base {

void warn(const std::string& message);

// Sends warnings to `listener` (for tests) and returns the previous one. An empty function restores stderr.
using WarningListener = std::function<void(const std::string&)>;
WarningListener on_warning(WarningListener listener);

// Called with the completed fraction in [0, 1] and a description of the current work.
using Progress = std::function<void(double share, const std::string& what)>;

// Draws on stderr, at most ten times per second, if it is a terminal; otherwise does nothing. Clears its line when the
// fraction reaches 1. Only one thread may call it at a time.
Progress terminal_progress();

// Clears the line of a visible bar before other text (results, errors) is printed.
void clear_progress();

}  // namespace ridge::base
