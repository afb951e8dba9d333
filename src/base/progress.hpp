// A progress bar on a terminal, nothing in a pipe.
#pragma once
#include <functional>
#include <string>

namespace ridge::base {

// Called with a share in [0, 1] and what is being done.
using Progress = std::function<void(double share, const std::string& what)>;

// Draws on stderr when it is a terminal, at most ten times a second, else ignores its calls; clears its line when the
// share reaches 1. Only one thread may call it at a time.
Progress terminal_progress();

// Clears the line of a bar that is shown, so that other text can follow: results, errors.
void clear_progress();

}  // namespace ridge::base
