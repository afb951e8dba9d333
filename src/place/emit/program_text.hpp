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
  std::string header{};    // declares the function that is called with a session
  std::string permuted{};  // OpenMP: the file with the iterations of the placed loops in another order
  std::string why{};       // reason why there is no text
  bool varies = false;     // sums depend on the order in which threads finish
};

// Nests on threads of the host in a program for a device: the text of each, and what must precede the user's text.
struct HostThreads {
  std::map<std::pair<int, int>, std::string> nests{};
  std::string helpers{};
  bool varies = false;
};
// `name`: the namespace of the session's functions.
HostThreads host_threads(const Program& program, const std::map<std::pair<int, int>, Kernel>& placed, bool permuted,
                         const std::string& name);

// `placed` by (function, nest). With `session`, also an overload of the function that is called with a session of the
// caller (for C++, not for OpenCL). Nests of `threads` run on the host if they are not placed or cannot be launched.
Output program_text(const Program& program, const std::map<std::pair<int, int>, Kernel>& placed, Target target,
                    const HostThreads& threads = {}, bool session = false);

// All nests as OpenMP threads.
Output openmp_text(const Program& program, const std::map<std::pair<int, int>, Kernel>& placed);
// Reason why a nest cannot run on OpenMP threads; "" if it can.
std::string not_on_threads(const Program& program, const std::pair<int, int>& where, const Kernel& kernel);

}  // namespace ridge::place::emit
