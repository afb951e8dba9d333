// The user's file with its nests placed: everything else stays as it was written.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "place/emit/kernel.hpp"
#include "place/program.hpp"

namespace ridge::place::emit {

enum class Target { ridge, opencl, cuda };  // Ridgeline's device layer, or a program that needs none of it

struct Output {
  std::string text{};      // the file
  std::string kernels{};   // their text alone
  std::string permuted{};  // threads of the host: the file with the placed loops in another order
  bool varies = false;     // sums are added in the order in which threads end
};

// `placed` by (function, nest).
Output program_text(const Program& program, const std::map<std::pair<int, int>, Kernel>& placed, Target target);

// The same nests as threads of the host.
struct Threads {
  std::string clause{};     // of #pragma omp parallel for
  std::string functions{};  // host functions it uses
};
Output openmp_text(const Program& program, const std::map<std::pair<int, int>, Kernel>& placed);

}  // namespace ridge::place::emit
