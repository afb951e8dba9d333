#pragma once
#include <ridge/sar.hpp>

namespace ridge::sar {

// The window's value at x in [-1/2, 1/2] of the band; 0 outside.
double weight(Window window, double x);

}  // namespace ridge::sar
