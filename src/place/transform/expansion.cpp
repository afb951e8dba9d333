// A number that every iteration has for itself becomes an array with an element an iteration, so that its loop can be
// cut in two where it is computed and used: what comes before a recurrence leaves it. Trigger: the loop is sequential,
// and fission alone would have to compute the number twice or cannot. Legality is fission's; the number itself ties no
// two iterations together. Only in files that have std::vector.
#include "place/transform/fission.hpp"

namespace ridge::place::transform {

std::vector<Proposal> expansion(const State& state) {
  if (state.text.find("#include <vector>") == std::string::npos) return {};
  return split(state, true);
}

}  // namespace ridge::place::transform
