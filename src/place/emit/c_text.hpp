// Emitted host text in C, for files that are C.
#pragma once
#include <string>

namespace ridge::place::emit {

// Translates generated C++ to C: placed::name becomes placed_name, casts take C's form, inline functions become static.
std::string in_c(const std::string& cpp);

}  // namespace ridge::place::emit
