// What the front end hands on: loops, statements and their accesses, text for kernels, places in the source. It knows
// nothing of Clang and nothing of isl.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "place/poly.hpp"

namespace ridge::place {

// Bytes of the main file; `known` is false inside macros and other files, where nothing can be replaced.
struct Span {
  unsigned begin = 0, end = 0;
  bool known = false;
};

enum class Storage {
  scalar,     // a number: local, by value, or global
  reference,  // a number behind a reference: may be part of any array
  pointer,    // T* parameter
  c_array,    // T a[N][M]
  object,     // std::vector, std::array, std::span: address and length are known to the host
};

struct Variable {
  std::string name{};          // in kernels and in isl: the user's, with a number behind it where two would clash
  std::string host{};          // how the host says it: "n", "size.width", "v.size()"
  std::string element{};       // type in the kernel dialect
  std::string host_element{};  // type in C++
  std::string type{};          // the declared type, as the source has it
  int bytes = 0;               // of an element
  Storage storage = Storage::scalar;
  std::vector<long> inner{};    // constant extents behind the first dimension: float a[n][3], struct {float x, y;}
  long length = -1;             // elements in all, where the type says so
  std::string data{}, count{};  // host text: address of the first element, number of elements; "" where unknown
  // Host text: where a number, or what says where an array is, lies in memory that has other names (behind a reference,
  // in an object, global), and its bytes; "" where only the function has it.
  std::string home{}, home_bytes{};
  enum class Home { anywhere, outside, own } home_in = Home::anywhere;  // outside the function, or a local of its own
  bool given = false;  // an address the function was called with: it leads to no array of the function's own
  bool integer = false, is_unsigned = false;
  bool parameter = false, global = false, constant = false;
  bool member = false;        // an array inside a struct: past its last element lies the next member
  bool captured = false;      // by reference, in a lambda: its name there always means the one outside
  bool outlives = false;      // its value is seen after the function has returned
  bool local_memory = false;  // an array that belongs to one iteration or call: never on the host
  std::vector<int> loops{};   // of the nest, around its declaration: one variable an iteration
  int line = 0;
  bool array() const { return storage >= Storage::pointer; }
};

// By the language's rules, writing an element of the array may change what lies at the other's home.
inline bool may_change(const Variable& array, const Variable& other) {
  if (other.home.empty() || !array.array()) return false;
  if (other.home_in == Variable::Home::outside && !array.outlives) return false;
  if (other.home_in == Variable::Home::own && array.given) return false;
  if (array.integer && array.bytes == 1) return true;
  return other.array() ? array.integer && array.bytes == 8
                       : array.integer == other.integer && array.bytes == other.bytes;
}

struct Access {
  int variable = -1;
  bool write = false, must = true;
  bool own = false;   // part of a reduction's own recurrence
  bool exact = true;  // false: any element
  std::vector<Poly> subscripts{};
  std::vector<Poly> not_negative{};   // what must be proved for the subscripts to mean what they say
  std::vector<std::string> exists{};  // iterators of loops inside a called function
  Conjunction where{};                // what holds for them
  std::string why{};                  // why it is not exact
  int line = 0;
  std::string source{};
};

enum class Combine { none, sum, product, minimum, maximum, argmin, argmax };
struct Reduction {
  Combine combine = Combine::none;
  int target = -1;
  std::vector<int> payload{};  // remembered with the extreme value
  bool strict = true;          // the first of equals wins; else the last
  bool by_comparison = true;   // minimum by if or ?: (a NaN never enters); false: by fmin and fmax
};

enum class NodeKind { block, loop, branch, statement };

struct Loop {
  std::string id{};      // l3
  int parent = -1;       // in the nest
  int depth = 0;         // in the nest
  bool counted = false;  // iterator, start, step and test are known
  bool exact = false;    // and the bounds are all affine
  std::string iterator{}, type{}, host_type{};
  std::string host_iterator{};       // "" where the source gives it no name
  int axis = -1;                     // of the grid, in a kernel
  std::string open{}, first{};       // in a kernel, where it shares its axis: what opens it, and its iterator's value
  std::string start{}, condition{};  // kernel text; a loop that is not counted has its whole header in start
  long step = 1;
  Conjunction bounds{};
  int leaves_early = 0;           // line of a break
  bool iterator_outside = false;  // declared before the loop: its last value may be read afterwards
  int line = 0;
  Span span{}, body{};
  std::string kind{};    // for, while, do, range-for
  std::string source{};  // the header, one line
  std::string why{};     // why it is not counted
};

struct Node {
  NodeKind kind = NodeKind::block;
  int line = 0;
  int loop = -1;                                 // index into the nest's loops
  int number = 0;                                // unique in the nest
  std::string text{};                            // kernel text of a statement; condition of a branch
  std::string target{}, operation{};             // of an assignment: text is then its right side
  std::string source{};                          // one line for reports
  Span span{};                                   // of a statement in a block
  std::vector<Node> children{};                  // loop: its body; branch: then and, where there is one, else
  std::vector<Access> accesses{};                // of the statement, or of the condition
  std::optional<Condition> when{}, otherwise{};  // of a branch, where they are affine
  std::vector<int> guards{};                     // jumps before it, by number, that may have skipped it
  Reduction reduction{};
  bool declaration = false;
};

// An outermost loop all of whose parts are understood. Iterators of loops around it are parameters.
struct Jump {
  int depth = 0;  // loops around it: it is decided once in each of their iterations
};

struct Nest {
  Node root{};  // the loop
  std::vector<Loop> loops{};
  std::vector<Jump> jumps{};
  std::vector<Variable> variables{};
  std::vector<std::string> parameters{};  // isl's: names of variables that do not change in the nest
  Conjunction context{};                  // what is known of the parameters (loops around, sizes are not negative)
  std::vector<Condition> assumptions{};   // tested before the placed code runs
  std::vector<std::string> assumption_texts{};
  std::vector<std::string> functions{};  // kernel text of the functions it calls, callees first
  std::vector<std::string> notes{};      // what is over-approximated, with the line
  std::set<int> live_after{};            // variables read later before they are written
  std::set<int> kept{};                  // arrays of which only the nest itself may read more, when it runs again
  bool libm = false;                     // calls whose last bit differs between libraries
  int line = 0;
  Span span{};
};

}  // namespace ridge::place
