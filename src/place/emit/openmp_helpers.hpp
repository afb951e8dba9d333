// Functions that emitted OpenMP programs call: work estimates, blocks of sums, overlap tests, copies, arrays.
#pragma once
#include <string>

namespace ridge::place::emit {

struct OpenmpHelpers {
  bool c = false;         // text for C; otherwise C++, in namespace placed
  bool copies = false;    // arrays are copied before a nest
  bool permuted = false;  // iterations run in another order
  bool tables = false;    // rows of a T** are tested
  bool arrays = false;    // local vectors are replaced (C++ only)
  // Programs for a device: the namespace of the session's functions, which include integers, the overlap test and
  // arrays.
  std::string session{};
};

// Text of the helpers that a program needs.
std::string openmp_helpers(const OpenmpHelpers& needed);

}  // namespace ridge::place::emit
