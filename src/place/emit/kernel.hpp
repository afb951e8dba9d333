// A nest as a kernel in the dialect, with everything the host needs to launch it.
#pragma once
#include <string>
#include <vector>

#include "place/analysis/footprint.hpp"
#include "place/analysis/verdicts.hpp"
#include "place/criteria/choose.hpp"
#include "place/criteria/memory.hpp"

namespace ridge::place::emit {

// A generated host function over some of the nest's parameters.
struct HostCall {
  std::string name{};
  std::vector<std::string> parameters{};
  bool empty() const { return name.empty(); }
};

struct KernelArray {
  int variable = -1;
  bool written = false, enters = true, covered = false;
  bool sized = false;            // extent by a host function; else from the object, or from the session's record
  HostCall size{}, first{};      // first: if set, elements before the array's address may be accessed from this one on
  std::vector<HostCall> rows{};  // of a table of rows: first and last row, first and last column
  bool tiled = false;            // its length is a kernel argument
  bool constant = false;         // passed as constant memory
};

// A version of a kernel for arrays that do not fit into the device's memory: some iterations of its outermost loop.
struct Strip {
  std::string name{};                    // of the kernel; "" if there is none
  HostCall low{}, high{};                // iterators of the loop
  std::vector<HostCall> first{}, end{};  // per array: elements accessed in a strip; empty: all
};

struct Kernel {
  std::string name{};
  std::string text{};       // dialect
  std::string functions{};  // host functions: sizes, tests
  std::vector<KernelArray> arrays{};
  std::vector<int> scalars{};
  std::vector<Reduction> reductions{};
  std::vector<int> expanded{}, privates{}, copies{};
  std::vector<analysis::OldRead> old_reads{};  // reads of the copies
  std::vector<std::pair<int, int>> same{};     // images (read, written) that may be one and the same
  std::vector<HostCall> iterations{};          // one per loop of `axes`
  HostCall work{};                             // threads only: estimated time of the nest on one thread, in ns
  std::vector<std::string> items{};            // group size per axis
  std::vector<std::string> copies_of{};        // iterations per work-item along each axis; empty: one
  Strip strip{};
  HostCall fits{};    // empty if nothing is assumed
  HostCall inside{};  // devices: no element before an array's address is accessed; empty if that is certain
  std::vector<std::string> inside_texts{};  // the same for the report
  std::string not_on_device{};              // reason why only threads of the host can run it
  std::vector<std::string> parameters{};    // of the host functions, by name in the nest
  // Loops on the grid: `chain` outermost first, `axes` by axis; those from the third on share the last axis.
  std::vector<int> chain{}, axes{};
  std::vector<int> vectors{};  // innermost loops to vectorize on the host
  bool libm = false, reassociates = false;
  bool atomic = false;                // work-items add to the same elements
  std::vector<std::string> memory{};  // memory of each array that is only read, as text
  std::vector<std::string> tiles{};   // tiles in local memory, as text
  std::string why{};                  // reason why there is no kernel
};

Kernel make_kernel(const std::string& name, const Nest& nest, const analysis::Relations& relations,
                   const std::vector<analysis::Verdict>& verdicts, const criteria::Choice& choice,
                   const Memories& memories);

// A number (or an array's address or length) that the nest treats as fixed although an array it writes may overlap it,
// or that the nest itself writes; as a range for placed::apart.
struct Held {
  const Variable* number = nullptr;
  std::string range{};
  bool written = false;
};
std::vector<Held> held(const Kernel& kernel, const Nest& nest);

// Number of elements of an array for the overlap test; 0 if the array is the same image as one that the kernel writes.
std::string apart_count(const Kernel& kernel, const Nest& nest, int variable, const std::string& count);

std::string call_text(const HostCall& call, const Nest& nest);  // C++ call with the host's expressions
std::string host_type(const Variable& v);                       // type of the kernel argument

}  // namespace ridge::place::emit
