// Pairs of accesses that use the same element, and reads without an earlier write. isl's dataflow analysis also finds
// the last write of each element, which takes longer.
#pragma once
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "place/analysis/relations.hpp"

namespace ridge::place::analysis {

// Pairs of instances in the order of their execution, computed per pair of statements when they are needed.
class ExecutionOrder {
 public:
  explicit ExecutionOrder(const isl::union_map& schedule);
  bool executes(const std::string& instance) const { return schedule_.count(instance) > 0; }
  // first -> second, which is executed later, in the same iteration of the outermost `depth` loops of both.
  const isl::map& before(const std::string& first, const std::string& second, int depth = 0);

 private:
  std::map<std::string, isl::map> schedule_{};  // by instance
  std::map<std::tuple<std::string, std::string, int>, isl::map> before_{};
};

// True if `write` precedes `read` in the body of a loop around both and, in every iteration of that loop, sets all
// elements that `read` uses.
bool set_before(const Instance& write, const isl::map& writes, const Instance& read, const isl::map& reads);

// True if one of `writes` sets every element of `reads` before it is read, in the same iteration of the outermost
// `depth` loops, which all instances have in common. All are maps from instances to elements.
bool written_before(const std::vector<isl::map>& reads, const std::vector<isl::map>& writes, int depth,
                    ExecutionOrder& order);

// Two accesses of one variable, of which the first writes; each two accesses of a nest are one meeting.
class Meeting {
 public:
  Meeting(const Instance& first_of, const Relation& a_of, const Instance& second_of, const Relation& b_of)
      : first(&first_of), second(&second_of), a(&a_of), b(&b_of), pairs(a->map.apply_range(b->map.reverse())) {}
  const Instance *first, *second;
  const Relation *a, *b;
  isl::map pairs;                                // all, from instances of `first` to instances of `second`
  bool own() const { return a->own && b->own; }  // both belong to one reduction
  // Pairs of instances that use the same element in different iterations of the loop, in the same iteration of all
  // loops around it. The first is executed before the second, or after it if `reversed`.
  const isl::map& carried(const Relations& r, int loop, bool reversed);
  bool carried(const Relations& r, int loop);  // in either order

 private:
  std::map<std::pair<int, bool>, isl::map> carried_{};
};

std::vector<Meeting> meetings(const Relations& r, int variable);

}  // namespace ridge::place::analysis
