// A nest as a kernel in the dialect, and what the host needs to launch it.
#pragma once
#include <string>
#include <vector>

#include "place/analysis/footprint.hpp"
#include "place/analysis/verdicts.hpp"
#include "place/criteria/choose.hpp"
#include "place/criteria/memory.hpp"

namespace ridge::place::emit {

// A function of the host over some of the nest's parameters.
struct HostCall {
  std::string name{};
  std::vector<std::string> parameters{};
  bool empty() const { return name.empty(); }
};

struct KernelArray {
  int variable = -1;
  bool written = false, enters = true, covered = false;
  bool sized = false;  // by a function over the parameters; else by the object or by who owns the memory
  HostCall size{};
  bool tiled = false;     // the kernel is told how long it is
  bool constant = false;  // passed on as constant memory
};

struct Kernel {
  std::string name{};
  std::string text{};       // dialect
  std::string functions{};  // host functions: sizes, tests
  std::vector<KernelArray> arrays{};
  std::vector<int> scalars{};
  std::vector<Reduction> reductions{};
  std::vector<int> expanded{}, privates{}, copies{};
  std::vector<HostCall> iterations{};     // one a loop of `axes`
  std::vector<std::string> items{};       // of a group, along each axis
  std::vector<std::string> copies_of{};   // iterations an item takes along each axis; empty: one
  HostCall fits{};                        // empty where nothing is assumed
  std::vector<std::string> parameters{};  // of the host functions, by name in the nest
  std::vector<int> chain{}, axes{};       // the loops on the grid, outermost first; and by axis,
                                          // the last of which those from the third on share
  std::vector<int> vectors{};             // innermost loops whose iterations are vectors on the host
  bool libm = false, reassociates = false;
  bool atomic = false;                // items add to the same places
  std::vector<std::string> memory{};  // where arrays are read from, in words
  std::vector<std::string> tiles{};   // those in local memory
  std::string why{};                  // it cannot be made
};

Kernel make_kernel(const std::string& name, const Nest& nest, const analysis::Relations& relations,
                   const std::vector<analysis::Verdict>& verdicts, const criteria::Choice& choice,
                   const Memories& memories);

// A number, or what says where an array is, that the nest takes as fixed and that an array it writes may hold; or one
// that it writes itself. As a range for placed::apart.
struct Held {
  const Variable* number = nullptr;
  std::string range{};
  bool written = false;
};
std::vector<Held> held(const Kernel& kernel, const Nest& nest);

std::string call_text(const HostCall& call, const Nest& nest);  // in the host's words
std::string host_type(const Variable& v);                       // of the argument

}  // namespace ridge::place::emit
