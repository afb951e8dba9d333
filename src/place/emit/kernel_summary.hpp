// Facts about a generated kernel: the criteria's decisions as text, and whether it has few iterations.
#pragma once
#include <string>

#include "place/emit/kernel.hpp"

namespace ridge::place::emit {

// Summary of the criteria's decisions, as comments above the kernel.
std::string criteria_text(const Nest& nest, const Kernel& kernel);
// True if all iteration counts are constants with a product below 64.
bool few_iterations(const Kernel& kernel);

}  // namespace ridge::place::emit
