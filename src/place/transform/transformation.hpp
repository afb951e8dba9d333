// Interface of transformations: each proposes new text for a nest and the new order of its statement instances.
// Legality is tested with isl; the benefit is found by parsing and analyzing the new text.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "place/analysis/flow.hpp"
#include "place/analysis/verdicts.hpp"
#include "place/edited.hpp"
#include "place/program.hpp"

namespace ridge::place::transform {

struct Proposal {
  std::string what{};  // "l1 and l2 swapped"
  std::vector<Edit> edits{};
  // New schedule per instance, by index into Relations::instances; missing instances keep theirs. Empty: the order does
  // not change.
  std::map<std::size_t, std::vector<std::string>> order{};
  std::optional<isl::union_map> schedule{};  // instead of `order`: of all instances
  bool renames = false;                      // the order is kept, but a variable gets copies: arrays must not overlap
  std::string test{};  // further C++ condition; if it is false at run time, the original loops run
  int whole = -1;      // iterations of this loop move as a whole, so its private variables carry no dependence
  std::vector<std::string> loops{};  // per loop of the new text, in order: the loops of the old text it comes from
  bool reorders() const { return schedule || !order.empty(); }
};

struct State {
  const std::string& text;
  const Nest& nest;
  const analysis::Relations& relations;
  const std::vector<analysis::Verdict>& verdicts;
  bool on_host = false;  // OpenMP target: loops become threads, not kernels
  bool thin = false;     // a kernel whose grid has one axis, although the nest has inner loops
};

struct Transformation {
  const char* name;
  std::vector<Proposal> (*propose)(const State& state);  // empty if its trigger does not apply
};

const std::vector<Transformation>& registry();

// Pairs of instances of a nest that must keep their order, computed once for all proposals.
class Legality {
 public:
  explicit Legality(const State& state);
  // "" if every dependence keeps its direction; else the first that would be reversed.
  std::string broken_by(const Proposal& proposal);
  isl::union_map all_pairs();  // of all variables

 private:
  const State& state_;
  analysis::ExecutionOrder order_;
  std::map<int, isl::union_map> pairs_{};  // by variable; the earlier instance first
  const isl::union_map& pairs(int variable);
};

std::vector<Proposal> interchange(const State& state);
std::vector<Proposal> skewing(const State& state);
std::vector<Proposal> fission(const State& state);
std::vector<Proposal> index_set_splitting(const State& state);
std::vector<Proposal> dead_writes(const State& state);
std::vector<Proposal> last_values(const State& state);
std::vector<Proposal> wrap_around(const State& state);
std::vector<Proposal> strip_mining(const State& state);
std::vector<Proposal> expansion(const State& state);
std::vector<Proposal> tiling(const State& state);
std::vector<Proposal> lanes(const State& state);
std::vector<Proposal> rescheduling(const State& state);

// Loop fusion combines two adjacent nests over the same ranges: saves a launch, and the second body finds the first
// one's results in cache. Text that replaces both, with `levels` of their loops fused; empty if their headers differ.
std::optional<Proposal> fusion(const State& first, const State& second, int levels);
// Applied to the fused nest after parsing: "" if splitting it again would be legal, so that fusion kept all
// dependences; else the dependence that forbids it.
std::string fusion_illegal(const State& fused, int levels);

// Guard of a transformed nest: a function of the program that tests the assumptions of the legality proof (arrays do
// not overlap, sizes are in range). If it fails, the original loops run.
struct Guard {
  bool possible = true;    // false: the extent of an array is unknown
  std::string function{};  // definition; "" if nothing was assumed
  std::string call{};
};
Guard guard(const std::vector<const State*>& states);

}  // namespace ridge::place::transform
