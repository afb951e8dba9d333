// Emitted host text in C, for files that are C.
#pragma once
#include <string>
#include <vector>

#include "place/emit/kernel.hpp"

namespace ridge::place::emit {

// Translates generated C++ to C: placed::name becomes placed_name, casts take C's form, inline functions become static.
std::string in_c(const std::string& cpp);

// Placed C files: the user's file stays C and calls functions of a second file in C++, which has the kernels, the
// session and one function per launch.

// A launch as a function with C linkage: variables of the nest become its parameters.
struct BridgedLaunch {
  Nest nest{};                         // with the function's parameters as the host's expressions
  std::vector<std::string> formals{};  // C and C++
  std::vector<std::string> actuals{};  // C, in terms of the user's variables
};
BridgedLaunch bridged(const Kernel& kernel, const Nest& nest);

// Declarations for the C file and definitions for the C++ file. `prefix` begins their names; `session` is the C++ text
// that declares the session's kernels and creates it with new.
std::string bridge_in_c(const std::string& prefix);
std::string bridge_in_cpp(const std::string& prefix, const std::string& session);

}  // namespace ridge::place::emit
