// A nest in isl's terms: statement instances, what they touch, the order they run in.
#pragma once
#include <isl/cpp.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "place/model.hpp"

namespace ridge::place::analysis {

struct Relation {
  const Access* access = nullptr;
  isl::map map{};  // instance -> element; larger than the truth where it is not exact
  bool write = false, must = false, own = false;
};

struct Instance {
  std::string name{};
  const Node* node = nullptr;
  std::vector<int> loops{};  // around it, outermost first
  isl::set domain{};
  bool exact = true;    // false: it may run less often than the domain says
  bool bounded = true;  // the loops around it run as often as the domain says
  struct Guard {
    int number = 0;  // of the branch or jump that decides
    int depth = 0;   // loops around that: decided once in each of their iterations
    bool operator==(const Guard& other) const { return number == other.number; }
  };
  std::vector<Guard> guards{};       // what else decides whether it runs
  std::vector<std::string> order{};  // when: places in the text and iterators in turn
  std::vector<Relation> relations{};
};

// How an array's one subscript is taken apart: a[y * w + x] is a[y][x] with rows of w.
struct Shape {
  std::vector<Poly> strides{};  // of every dimension but the last, whose stride is 1 (or the inner extents)
  std::vector<Poly> extents{};  // of every dimension but the first
};

struct Assumption {
  isl::set holds{};  // parameters
  std::string text{};
};

struct Relations {
  isl::ctx context;
  const Nest* nest = nullptr;
  std::vector<Instance> instances{};
  isl::union_map schedule{};
  isl::set known{};  // parameters: what always holds
  // Arrays whose relations are not their subscripts: some run from the end of a row, or into another row.
  std::set<int> mirrored{};
  std::map<int, Shape> shapes{};
  std::vector<Assumption> assumptions{};
  std::vector<std::string> notes{};
  const Instance& instance(const std::string& name) const;
  bool inside(const Instance& i, int loop) const;
  isl::union_map accesses(int variable, bool write) const;
};

Relations relate(isl::ctx context, const Nest& nest);

}  // namespace ridge::place::analysis
