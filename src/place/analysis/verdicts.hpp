// Verdict per loop of a nest: parallel or not, with private variables, reductions and carried dependences.
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
  std::string from{}, to{};  // source text of the accesses
  std::string example{};     // "i = 1 writes a[i], i = 2 reads it"
  bool certain = true;       // false: depends on a branch or on an unknown subscript
};

struct OldRead {  // a read that always gets the value from before the nest
  int variable = -1;
  std::size_t instance = 0;  // index into Relations::instances
  std::string source{};
};

struct Verdict {
  int loop = -1;
  bool parallel = false;
  std::vector<int> privates{};
  std::vector<int> expanded{};            // private arrays of a length known at run time only: one copy per work-item
  std::vector<int> reductions{};          // targets
  std::vector<Reduction> recurrences{};   // one per target
  std::vector<int> array_reductions{};    // targets that are arrays
  std::vector<Dependence> dependences{};  // dependences that make it sequential
  // Arrays to copy before the loop. The loop is sequential only because iterations overwrite elements that others still
  // read; with reads redirected to the copies it is parallel.
  std::vector<int> copies{};
  std::vector<OldRead> old_reads{};  // the redirected reads
  bool some_stay = false;            // other reads of the copied arrays get values of their own iteration
  // Variables of the dependences of which no iteration reads a value from before the iteration.
  std::vector<int> set_first{};
  bool last_sets_all = false;  // the last iteration sets all elements of them that any iteration sets
  std::string why{};
  std::string claim{};  // parallel only because the user says so: the dependence that was not considered
  bool independent() const { return parallel && array_reductions.empty(); }  // no two iterations use the same element
};

std::vector<Verdict> loop_verdicts(const Relations& relations);  // one per loop of the nest, in its order

}  // namespace ridge::place::analysis
