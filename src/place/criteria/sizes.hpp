// The second criterion: the shape of a work-group, from what devices allow and from how long the loops are. The third,
// room for all that a nest touches, is asked by the program before each launch; here it is put into words.
#pragma once
#include <string>
#include <vector>

namespace ridge::place::criteria {

struct Limits {
  const char* name;
  int width;                            // items that run in step: a group is a multiple of them
  int sides[3], most;                   // of a group, and items in all
  long groups[3];                       // of a grid
  int resident_items, resident_groups;  // of one unit: smaller groups than their quotient leave it empty
};
const std::vector<Limits>& devices();  // NVIDIA's, AMD's, processors under OpenCL

// The same kernel runs on any of them: what all allow. `turns`: iterations along each axis, 0 where only the run knows.
// `full`: exactly kItems in all, which trees of reductions are written for.
constexpr int kItems = 256;
std::vector<int> group_shape(const std::vector<long>& turns, bool full);

// Why a shape breaks a limit of some device; "" where it breaks none.
std::string broken(const std::vector<int>& shape);

}  // namespace ridge::place::criteria
