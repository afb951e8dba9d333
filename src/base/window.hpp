// Evaluates window functions.
#pragma once
#include <ridge/window.hpp>

namespace ridge::base {

// Value at `x` in [-1, 1] across the window; 0 outside. `shape` is Kaiser's beta (0 means 10.61) or the Gaussian's
// sigma in half lengths (0 means 0.22); other windows ignore it.
double window_at(Window window, double x, double shape = 0);

}  // namespace ridge::base
