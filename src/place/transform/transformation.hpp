// A transformation proposes a new text for a nest and the order in which its statements then run. Whether that order is
// legal is asked of isl; what it is worth is found by reading the new text like any other.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "place/analysis/verdicts.hpp"
#include "place/edited.hpp"
#include "place/program.hpp"

namespace ridge::place::transform {

struct Proposal {
  std::string what{};  // "l1 and l2 exchanged"
  std::vector<Edit> edits{};
  // The new time of every instance, by its place in Relations::instances; those that are missing keep theirs. Empty:
  // the order does not change at all.
  std::map<std::size_t, std::vector<std::string>> order{};
  std::string test{};  // what else must hold, in the program's words; where it does not, the loops run as they were
  int whole = -1;  // iterations of this loop are moved as wholes: what each has for itself does not tie them together
  std::vector<std::string> loops{};  // of the new text, in its order: the loops of the old one that each comes from
};

struct State {
  const std::string& text;
  const Nest& nest;
  const analysis::Relations& relations;
  const std::vector<analysis::Verdict>& verdicts;
  bool on_host = false;  // loops become threads, not kernels
};

struct Transformation {
  const char* name;
  std::vector<Proposal> (*propose)(const State& state);  // none where its trigger is not met
};

const std::vector<Transformation>& registry();

// The pairs of instances of a nest that must keep their order, found once for all proposals.
class Legality {
 public:
  explicit Legality(const State& state);
  // "" where every dependence keeps its direction; else the first that would be turned round.
  std::string broken_by(const Proposal& proposal);

 private:
  const State& state_;
  isl::union_map in_time_;
  std::map<int, isl::union_map> pairs_{};  // by variable, the earlier instance first
  const isl::union_map& pairs(int variable);
};

std::vector<Proposal> interchange(const State& state);
std::vector<Proposal> skewing(const State& state);
std::vector<Proposal> fission(const State& state);
std::vector<Proposal> index_set_splitting(const State& state);
std::vector<Proposal> dead_writes(const State& state);
std::vector<Proposal> strip_mining(const State& state);
std::vector<Proposal> expansion(const State& state);
std::vector<Proposal> tiling(const State& state);
std::vector<Proposal> lanes(const State& state);

}  // namespace ridge::place::transform
