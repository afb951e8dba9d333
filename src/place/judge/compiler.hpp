// What original and placed programs are compiled with.
#pragma once
#include <string>
#include <vector>

namespace ridge::place::judge {

std::string host_compiler();  // CXX, or c++
std::string cuda_compiler();  // nvcc, by CUDACXX, on the path or where the toolkit puts it; "" without one

// What the placed program is compiled with beside the flags of both.
struct Compiler {
  std::string command{};  // "" : the same as the original's
  std::vector<std::string> flags{};
  const char* suffix = ".cpp";
};
Compiler compiler_of(const std::string& emit);

// The compiler and what both programs are compiled with; libraries and other inputs among the flags come later.
std::vector<std::string> common_flags(const std::string& compiler, const std::string& file,
                                      const std::vector<std::string>& flags);
bool is_library(const std::string& flag);
bool is_input(const std::string& flag);                                    // another source or object of the program
std::vector<std::string> for_nvcc(const std::vector<std::string>& flags);  // which takes few of the host's itself

}  // namespace ridge::place::judge
