// The values of windows.
#pragma once
#include <ridge/window.hpp>

namespace ridge::base {

// At `x` in [-1, 1] across the window; 0 outside. `shape`: kaiser's beta, 0 means 10.61; gaussian's sigma in half
// lengths, 0 means 0.22; the others have none.
double window_at(Window window, double x, double shape = 0);

}  // namespace ridge::base
