// Compilers and flags for the original and the placed program.
#pragma once
#include <string>
#include <vector>

namespace ridge::place::judge {

std::string host_compiler();  // CXX, or c++
std::string c_compiler();     // CC, or cc
bool is_c(const std::string& file);
std::string cuda_compiler();  // nvcc: from CUDACXX, PATH or /usr/local/cuda/bin; "" if not found

// Compiler and extra flags of the placed program; `threads`: with loops on threads of the host; `flags`: the user's.
struct Compiler {
  std::string command{};  // "": the original's compiler
  std::vector<std::string> flags{};
  const char* suffix = ".cpp";
};
Compiler compiler_of(const std::string& emit, bool threads = false, const std::vector<std::string>& flags = {});

// Command line that both programs share, without the libraries and other inputs among `flags`.
std::vector<std::string> common_flags(const std::string& compiler, const std::string& file,
                                      const std::vector<std::string>& flags);
bool is_library(const std::string& flag);
bool is_input(const std::string& flag);  // another source or object file of the program
std::vector<std::string> for_nvcc(
    const std::vector<std::string>& flags);  // passes flags unknown to nvcc with -Xcompiler

}  // namespace ridge::place::judge
