#pragma once
#include <string>

namespace ridge::codegen {

// A literal of the kernel's precision that reads back as the same number.
std::string literal(double value, bool float64);

}  // namespace ridge::codegen
