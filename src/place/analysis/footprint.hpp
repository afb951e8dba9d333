// Footprint of a kernel in an array: number of elements, whether earlier values are read, whether all elements are
// written.
#pragma once
#include <optional>
#include <string>
#include <utility>
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
  std::string begins{};    // strips only: the first element accessed, as C text; else ""
  std::string elements{};  // C text over the parameters and enclosing iterators: one past the last element accessed
  // If elements with a negative index may be accessed: the first one, and the condition under which there is none.
  std::string first{}, starts_inside{};
  bool always_before = false;  // that condition never holds
  // Of a table of rows, if all rows between the first and the last are certainly accessed: first and last row, first
  // and last column.
  std::vector<std::string> rows{};
  std::string why{};
};

// Parameters of these texts: the nest's, and the iterators of the loops around `loop`.
std::vector<std::string> parameters_at(const Relations& relations, int loop);
std::vector<Footprint> footprints(const Relations& relations, int loop);  // arrays declared outside the loop
// The nest with only the iterations kStripFrom to kStripTo of a loop, which are parameters.
constexpr const char *kStripFrom = "from_of_strip", *kStripTo = "to_of_strip";
Relations strip_of(const Relations& relations, int loop);
// C text: smallest and largest iterator of `loop`, 0 and -1 if it does not run; empty if they are unknown.
std::optional<std::pair<std::string, std::string>> iterator_range(const Relations& relations, int loop);
// C text: largest number of iterations of `loop`, over the loops between `outer` and it.
std::string iterations(const Relations& relations, int outer, int loop);
std::string condition_text(const isl::set& holds);  // condition on the parameters as C text

}  // namespace ridge::place::analysis
