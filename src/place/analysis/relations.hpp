// A nest as isl sets and relations: statement instances, the elements they access, and their execution order.
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
  isl::map map{};  // instance -> element; a superset if the access is not exact
  bool write = false, must = false, own = false;
};

struct Instance {
  std::string name{};
  const Node* node = nullptr;
  std::vector<int> loops{};  // enclosing loops, outermost first
  isl::set domain{};
  bool exact = true;    // false: it may execute for a subset of the domain only
  bool bounded = true;  // the enclosing loops run exactly the iterations of the domain
  struct Guard {
    int number = 0;  // of the deciding branch or jump
    int depth = 0;   // loops around that branch or jump: decided once per iteration of them
    bool operator==(const Guard& other) const { return number == other.number; }
  };
  std::vector<Guard> guards{};       // branches and jumps that decide whether it executes
  std::vector<std::string> order{};  // schedule: alternates textual positions and iterators
  std::vector<Relation> relations{};
};

// Dimensions of an array with one subscript: a[y * w + x] is a[y][x] with rows of length w.
struct Shape {
  std::vector<Poly>
      strides{};  // of every dimension but the last, whose stride is 1 (or the product of the inner extents)
  std::vector<Poly> extents{};  // of every dimension but the first
};

struct Assumption {
  isl::set holds{};  // set of parameter values
  std::string text{};
};

struct Relations {
  isl::ctx context;
  const Nest* nest = nullptr;
  std::vector<Instance> instances{};
  isl::union_map schedule{};
  bool strip = false;  // only some iterations of a loop: strip_of()
  isl::set known{};    // parameter values that are possible
  // Arrays whose relations differ from their written subscripts: counted from the end of a row, or leading into another
  // row.
  std::set<int> mirrored{};
  std::map<int, Shape> shapes{};
  std::vector<Assumption> assumptions{};
  std::vector<std::string> notes{};
  std::string overrun{};  // the access that leaves an array inside a struct at all sizes
  const Instance& instance(const std::string& name) const;
  bool inside(const Instance& i, int loop) const;
  isl::union_map accesses(int variable, bool write) const;
};

// Sets and relations by their text, without the names of instances and arrays. Many accesses of a nest have equal
// text, and most of the text of a transformed program is that of the program before: it is parsed and simplified once.
struct Parsed {
  struct Holding {
    isl::set sizes{};     // parameter values for which some subscripts are valid
    bool always = false;  // all that are possible
  };
  std::map<std::string, isl::set> sets{};
  std::map<std::string, isl::map> maps{};
  std::map<std::string, Holding> holding{};
};

Relations relate(isl::ctx context, const Nest& nest, Parsed& parsed);

}  // namespace ridge::place::analysis
