// Writes the user's file with its nests placed and all other text unchanged: for devices, or as OpenMP threads.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "place/emit/kernel.hpp"
#include "place/program.hpp"

namespace ridge::place::emit {

enum class Target { ridge, opencl, cuda };  // Ridgeline's device layer, or a program that does not need Ridgeline

struct Output {
  std::string text{};      // the file
  std::string device{};    // C: the C++ file with kernels and launches
  std::string kernels{};   // kernel text only
  std::string permuted{};  // OpenMP: the file with the iterations of the placed loops in another order
  std::string why{};       // reason why there is no text
  bool varies = false;     // sums depend on the order in which threads finish
};

// `placed` by (function, nest).
Output program_text(const Program& program, const std::map<std::pair<int, int>, Kernel>& placed, Target target);

// The same nests as OpenMP threads.
Output openmp_text(const Program& program, const std::map<std::pair<int, int>, Kernel>& placed);
// Reason why a nest cannot run on OpenMP threads; "" if it can.
std::string not_on_threads(const Program& program, const std::pair<int, int>& where, const Kernel& kernel);

}  // namespace ridge::place::emit
