// What a kernel touches of an array: how many elements, whether old values enter, whether all of them are written.
#pragma once
#include <string>
#include <vector>

#include "place/analysis/relations.hpp"

namespace ridge::place::analysis {

struct Footprint {
  int variable = -1;
  bool read = false, written = false;
  bool enters = true;      // values from before are read
  bool known = false;      // `elements` is there
  bool covered = false;    // every element below `elements` is surely written
  bool within = false;     // no element past the last one of an array of constant length is touched
  bool certain = true;     // false: a branch decides what is touched
  std::string elements{};  // C text over the parameters and the iterators around: one past the last element touched
  std::string why{};
};

// Parameters of the texts: the nest's and the iterators of loops around `loop`.
std::vector<std::string> parameters_at(const Relations& relations, int loop);
std::vector<Footprint> footprints(const Relations& relations, int loop);  // of arrays that live outside the loop
// Iterations of a loop of the nest, the largest number over the loops between `outer` and it.
std::string iterations(const Relations& relations, int outer, int loop);
std::string condition_text(const isl::set& holds);  // parameters to C

}  // namespace ridge::place::analysis
