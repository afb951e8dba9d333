// Scalar expansion: turns a scalar that is private to each iteration into an array with one element per iteration, so
// that the loop can be split between computing and using it, and work before a recurrence leaves the sequential loop.
// Trigger: the loop is sequential and fission alone would compute the scalar twice or is impossible. Legal under the
// same conditions as fission, since the scalar carries no dependence. Needs #include <vector> in the file.
#include "place/transform/fission.hpp"

namespace ridge::place::transform {

std::vector<Proposal> expansion(const State& state) {
  if (state.text.find("#include <vector>") == std::string::npos) return {};
  return split(state, true);
}

}  // namespace ridge::place::transform
