// A progress bar on a terminal, nothing in a pipe.
#pragma once
#include <functional>
#include <string>

namespace ridge::base {

// Called with a share in [0, 1] and what is being done.
using Progress = std::function<void(double share, const std::string& what)>;

// Draws on stderr when it is a terminal, else ignores its calls; clears its line when the share reaches 1.
Progress terminal_progress();

}  // namespace ridge::base
