// Footprint of a kernel in an array: number of elements, whether earlier values are read, whether all elements are
// written.
#pragma once
#include <string>
#include <vector>

#include "place/analysis/relations.hpp"

namespace ridge::place::analysis {

struct Footprint {
  int variable = -1;
  bool read = false, written = false;
  bool enters = true;      // values from before the kernel are read
  bool known = false;      // `elements` is set
  bool covered = false;    // every element below `elements` is certainly written
  bool within = false;     // no access past the end of an array of constant length
  bool certain = true;     // false: a branch decides which elements are accessed
  std::string elements{};  // C text over the parameters and enclosing iterators: one past the last element accessed
  // If elements with a negative index may be accessed: the first one, and the condition under which there is none.
  std::string first{}, starts_inside{};
  bool always_before = false;  // that condition never holds
  std::string why{};
};

// Parameters of these texts: the nest's, and the iterators of the loops around `loop`.
std::vector<std::string> parameters_at(const Relations& relations, int loop);
std::vector<Footprint> footprints(const Relations& relations, int loop);  // arrays declared outside the loop
// C text: largest number of iterations of `loop`, over the loops between `outer` and it.
std::string iterations(const Relations& relations, int outer, int loop);
std::string condition_text(const isl::set& holds);  // condition on the parameters as C text

}  // namespace ridge::place::analysis
