// Loop nests as the front end passes them on: loops, statements with their accesses, kernel text, source positions.
// Independent of Clang and of isl.
#pragma once
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "place/poly.hpp"

namespace ridge::place {

// Byte range of the main file; `known` is false inside macros and other files, where text cannot be replaced.
struct Span {
  unsigned begin = 0, end = 0;
  bool known = false;
};

enum class Storage {
  scalar,     // a number: local, by value, or global
  reference,  // a number accessed by a reference: may be an element of any array
  pointer,    // T* parameter
  c_array,    // T a[N][M]
  object,     // std::vector, std::array, std::span: the host can evaluate address and length
};

struct Variable {
  std::string name{};          // name in kernels and in isl: the user's, with a number appended if two would clash
  std::string host{};          // C++ expression: "n", "size.width", "v.size()"
  std::string element{};       // element type in the kernel dialect
  std::string host_element{};  // element type in C++
  std::string type{};          // declared type, as written
  int bytes = 0;               // size of an element
  Storage storage = Storage::scalar;
  std::vector<long> inner{};    // constant extents after the first dimension: float a[n][3], struct {float x, y;}
  long length = -1;             // number of elements, if the type fixes it
  std::string data{}, count{};  // C++ text: address of the first element, number of elements; "" if unknown
  // The home: C++ text for the address and size of the memory that holds a number, or an array's address and length,
  // when that memory has other names (behind a reference, in an object, global). "" if only this function can access
  // it.
  std::string home{}, home_bytes{};
  enum class Home { anywhere, outside, own } home_in = Home::anywhere;  // outside the function, or in one of its locals
  bool given = false;  // an address passed to the function: it does not point to a local array
  bool integer = false, is_unsigned = false;
  bool parameter = false, global = false, constant = false;
  bool table() const { return scattered && count.empty(); }  // a T**, whose rows may overlap
  bool member = false;        // an array inside a struct: the next member follows its last element
  bool scattered = false;     // its rows are separate allocations: threads of the host only
  bool mixed = false;         // structs with fields of several types, in units of their alignment
  bool packed = false;        // one of these fields is not aligned to its size: threads of the host only
  std::string part_of{};      // a number of a struct that is declared before the nest and changed in it: that struct
  bool shares = false;        // a cv::Mat: its copies refer to the same elements
  bool captured = false;      // captured by reference in a lambda, where its name always means this variable
  bool outlives = false;      // its value is visible after the function returns
  bool local_memory = false;  // an array declared inside the nest or a called function: never on the host
  std::vector<int> loops{};   // loops of the nest around its declaration: one instance per iteration
  int line = 0;
  bool array() const { return storage >= Storage::pointer; }
};

// True if by C++'s aliasing rules writing an element of `array` may change the memory at the home of `other`.
inline bool may_change(const Variable& array, const Variable& other) {
  if (other.home.empty() || !array.array()) return false;
  if (other.home_in == Variable::Home::outside && !array.outlives) return false;
  if (other.home_in == Variable::Home::own && array.given) return false;
  if (array.mixed || (array.integer && array.bytes == 1)) return true;
  return other.array() ? array.integer && array.bytes == 8
                       : array.integer == other.integer && array.bytes == other.bytes;
}

struct Access {
  int variable = -1;
  bool write = false, must = true;
  bool own = false;   // part of a reduction's recurrence
  bool exact = true;  // false: any element
  std::vector<Poly> subscripts{};
  std::vector<Poly> not_negative{};   // polynomials that must be >= 0 for the subscripts to be valid
  std::vector<std::string> exists{};  // iterators of loops inside a called function
  Conjunction where{};                // constraints on `exists`
  std::string why{};                  // reason why it is not exact
  int line = 0;
  std::string source{};
  std::string element{};  // C++ text of the element if it is the same one when the statement begins
};

enum class Combine { none, sum, product, minimum, maximum, argmin, argmax };
struct Reduction {
  Combine combine = Combine::none;
  int target = -1;
  std::vector<int> payload{};  // variables stored together with the extreme value
  bool strict = true;          // true: the first of equal values wins; false: the last
  bool by_comparison = true;   // minimum by if or ?: (NaN is never stored); false: by fmin or fmax
};

enum class NodeKind { block, loop, branch, statement };

struct Loop {
  std::string id{};      // l3
  int parent = -1;       // index in the nest
  int depth = 0;         // depth in the nest
  bool counted = false;  // iterator, start, step and test are known
  bool exact = false;    // counted, and all bounds are affine
  std::string iterator{}, type{}, host_type{};
  std::string host_iterator{};  // "" if the source has no name for it
  int axis = -1;                // grid axis in a kernel
  std::string open{},
      first{};  // kernel text of a loop that shares its axis: its opening, and the value of its iterator
  std::string start{}, condition{};  // kernel text; for a loop that is not counted, `start` holds the whole header
  long step = 1;
  Conjunction bounds{};
  int leaves_early = 0;                     // line of a break
  std::string claim{};                      // the user's claim that its iterations are independent; "" if there is none
  std::vector<std::string> claim_except{};  // variables that the claim does not cover
  std::vector<std::string> claim_private{};  // variables that it declares private
  unsigned claim_at = 0;                     // first byte of the claim
  int counters = 1;               // variables that the header steps; all but the iterator are functions of it
  bool iterator_outside = false;  // declared before the loop, so its last value may be read afterwards
  int line = 0;
  Span span{}, body{};
  std::string kind{};    // for, while, do, range-for
  std::string source{};  // header, as one line
  std::string why{};     // reason why it is not counted
};

struct Node {
  NodeKind kind = NodeKind::block;
  int line = 0;
  int loop = -1;                                 // index into the nest's loops
  std::string text{};                            // kernel text of a statement; condition of a branch
  std::string target{}, operation{};             // of an assignment; `text` is then its right-hand side
  std::string source{};                          // one line, for reports
  Span span{};                                   // set for statements of a block
  std::vector<Node> children{};                  // loop: its body; branch: then and, if present, else
  std::vector<Access> accesses{};                // of the statement, or of the branch condition
  std::optional<Condition> when{}, otherwise{};  // branch: when it is taken and not taken, if affine
  std::vector<int> guards{};                     // numbers of earlier jumps that may have skipped it
  Reduction reduction{};
  bool declaration = false;
};

// A break or continue.
struct Jump {
  int depth = 0;  // number of enclosing loops: it is decided once per iteration of them
};

// An outermost loop whose whole body is supported. Iterators of enclosing loops are parameters.
struct Nest {
  Node root{};  // the outermost loop
  std::vector<Loop> loops{};
  std::vector<Jump> jumps{};
  std::vector<Variable> variables{};
  std::vector<std::string> parameters{};  // isl parameters: names of variables that do not change in the nest
  Conjunction context{};                  // facts about the parameters (enclosing loops, sizes >= 0)
  std::vector<Condition> assumptions{};   // conditions tested before the placed code runs
  std::vector<std::string> assumption_texts{};
  std::vector<std::string> functions{};  // kernel text of called functions, callees first
  std::vector<std::string> notes{};      // over-approximated accesses, with their line
  std::set<int> live_after{};            // variables that later code may read before writing
  std::set<int> kept{};                  // arrays that only a later run of this nest may read
  bool opaque = false;                   // contains loops whose text is elsewhere: its text is not transformed
  bool asserts = false;                  // an assertion may end the program: threads of the host only
  bool libm = false;                     // calls math functions whose last bit differs between libraries
  int line = 0;
  Span span{};
};

}  // namespace ridge::place
