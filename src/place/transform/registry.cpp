// Registry of transformations, tried in this order. A transformation is one file and one line here.
#include "place/transform/transformation.hpp"

namespace ridge::place::transform {

const std::vector<Transformation>& registry() {
  static const std::vector<Transformation> all{
      {"dead-write removal", dead_writes},
      {"interchange", interchange},
      {"skewing", skewing},
      {"fission", fission},
      {"expansion", expansion},
      {"index-set splitting", index_set_splitting},
      {"last values", last_values},
      {"wrap-around", wrap_around},
      {"strip mining", strip_mining},
      {"rescheduling", rescheduling},
      {"lanes", lanes},
      {"tiling", tiling},
  };
  return all;
}

}  // namespace ridge::place::transform
