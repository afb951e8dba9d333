// Which loops are parallel, and what decides.
#pragma once
#include <string>
#include <vector>

#include "place/analysis/relations.hpp"

namespace ridge::place::analysis {

enum class Kind { flow, anti, output };
const char* to_string(Kind kind);

struct Dependence {  // carried by a loop
  Kind kind = Kind::flow;
  int variable = -1;
  int from_line = 0, to_line = 0;
  std::string from{}, to{};  // source of the accesses
  std::string example{};     // "i = 1 writes a[i], i = 2 reads it"
  bool certain = true;       // false: a branch or an unknown subscript decides
};

struct Verdict {
  int loop = -1;
  bool parallel = false;
  std::vector<int> privates{};
  std::vector<int> expanded{};            // private arrays whose length only the run knows: a copy an item
  std::vector<int> reductions{};          // targets
  std::vector<Reduction> recurrences{};   // one a target
  std::vector<int> array_reductions{};    // targets that are arrays
  std::vector<Dependence> dependences{};  // those that keep it from being parallel
  // Sequential only because iterations overwrite what others still read: with copies of these arrays, taken before the
  // loop and read instead, it is parallel.
  std::vector<int> copies{};
  std::string why{};
};

std::vector<Verdict> judge_loops(const Relations& relations);  // one a loop of the nest, in its order

}  // namespace ridge::place::analysis
