// Functions as the host runs them: trees of parts that stay unchanged and nests that may be placed.
#pragma once
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "place/model.hpp"

namespace ridge::place {

struct Refusal {
  std::string file{};
  int line = 0;
  std::string what{};
};

// Memory that host code accesses, so that copies can be inserted around it.
struct Touch {
  std::string data{}, count{},
      element{};  // C++ text for an object of known extent: address, number of elements, element type
  bool write = false;
  Variable number{};  // if it has a home: a number that an array may overlap, not an array
  std::string one{};  // C++ text of the element if only one is accessed; `count` may then be unknown
};

enum class PartKind { sequence, loop, branch, statement, nest, call };

struct Part {
  PartKind kind = PartKind::statement;
  int line = 0;
  Span span{};
  Span expanded{};       // if `span` is unknown: the use of the macro that contains the part
  std::string source{};  // as one line
  std::vector<Part> children{};
  bool anything = false;         // accesses unknown memory: all data must be on the host before it
  bool pure = false;             // accesses no array
  std::vector<Touch> touches{};  // loop, branch: accesses of its header
  bool arguments_touch_anything = false;
  std::vector<Touch> argument_touches{};  // call: accesses of its arguments
  std::string why{};                      // loop: reason why it is not a nest
  int why_line = 0;
  std::string id{};                 // loop: l3
  std::string loop_kind{};          // loop: for, while, do
  int nest = -1;                    // index into Function::nests
  std::string callee{};             // call: the function that may have a placed version
  Span callee_name{}, arguments{};  // call: positions of the name and the arguments
  bool leaves = false;              // declares objects that manage memory of their own
  bool declares = false;            // a declaration: it must not be enclosed in braces
  bool in_sequence = false;         // directly in a { } block, so that text can be inserted before and after it
  struct Local {
    std::string name{}, data{}, count{}, element{};
    std::string birth{};  // length or copied range of a vector of which only elements are used
    bool dead = false;    // moved vector: nothing reads its old elements
  };
  std::vector<Local> moves{};  // std::vectors whose memory it may reallocate or swap
  std::vector<std::pair<std::string, std::string>>
      knows{};                  // call: addresses passed on, with the number of elements there
  std::vector<Local> locals{};  // arrays it declares
  std::string in_function{};
};

struct FunctionParameter {
  std::string name{}, type{}, element{};  // as written; element: of arrays, else ""
  enum class Kind {
    integer,
    real,
    pointer,
    vector,
    std_array,
    reference,
    span,
    mat,
    structs,
    struct_pointer,
    rows,  // a C array, or an array of arrays or structs, of constant length
    view,
    other
  } kind = Kind::other;
  bool constant = false;
  bool is_unsigned = false;
  long length = -1;  // of a std::array
  int bytes = 0;
  // Of a view: constructor arguments, names of its integers and "*" for its pointer. Of structs with fields of several
  // types: bytes of a struct, then "OFFSET TYPE" of each number.
  std::vector<std::string> fields{};
};

struct Function {
  std::string name{}, qualified{};
  std::string result{};          // return type
  std::string parameter_text{};  // as written
  std::vector<FunctionParameter> parameters{};
  int line = 0, last_line = 0;
  Span whole{}, body{}, name_span{};
  bool in_main_file = false, is_static = false;
  bool says_its_name = false;  // uses __func__
  Part root{};
  std::vector<Nest> nests{};
  std::vector<std::string> calls{};  // functions of this file that it calls
  std::string refused{};             // reason why nothing of it can be placed
};

// Start of a function's body in the file, where --run inserts a clock.
struct FunctionBody {
  std::string name{};  // with namespaces and classes
  int line = 0;
  unsigned begin = 0;
};

// Call of a function template that contains loops, with the text of the instantiated function.
struct TemplateCall {
  Span name{};             // the callee, as written in the call
  std::string function{};  // name of the instantiated function
  unsigned at = 0;         // where to insert it: after the template
  std::string text{};
  std::vector<int> lines{};  // line of the user's file for each line of `text`
};

// Text that replaces a part of the file before it is analyzed.
struct Rewrite {
  unsigned begin = 0, end = 0;
  std::string text{};
  std::vector<int> lines{};  // line of the user's file for each line of `text`; empty: taken from the replaced lines
};

struct Program {
  std::string file{}, text{};
  std::vector<int> lines{};  // line of the user's file for each line of `text`; empty if `text` is the user's file
  std::vector<Function> functions{};  // callees first; the requested function is last
  std::vector<Refusal> refusals{};
  std::vector<TemplateCall> template_calls{};
  std::vector<Rewrite> rewrites{};     // of loops with several counters and member functions: applied and read again
  std::string source{};                // the file with the requested member function as a free function; else ""
  std::set<std::string> lifted{};      // member functions that became free functions
  std::string renamed{};               // the requested function after these rewrites, if it is a member function
  std::vector<FunctionBody> bodies{};  // positions in the user's file
  std::vector<std::string> errors{};   // of the compiler: nothing else is filled in then
  bool has_main = false;
  bool c = false;  // the file is C, not C++
};

// The start of the names of member functions added to the user's classes: placed_cells_() returns the field cells_.
inline constexpr const char* kAccessor = "placed_";
// Name prefix of the functions that test whether a transformed nest may run; the front end recognizes it.
inline constexpr const char* kGuard = "ridge_fits_";
// Before the test of a nest that was reordered for parallel loops: replaced by a test whether threads may pay.
inline constexpr const char* kReordered = "/* reordered */ ";

// Iterator of a loop of one iteration around a statement that becomes a kernel of one work-item.
inline constexpr const char* kOnce = "placed_once";

struct ReadRequest {
  std::string file{}, function{};
  std::vector<std::string> flags{};
  std::string models{};            // C++ text with models of library functions
  std::set<std::string> lifted{};  // member functions that are free functions already
  bool opencv = true;              // use the models of OpenCV, if the text includes it
};

// Parses one file, again with changed text as often as needed: its includes are compiled once. (frontend/)
class FileReader {
 public:
  explicit FileReader(ReadRequest request);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;
  Program read();  // the file on disk
  Program read(const std::string& text, const std::vector<int>& lines);

 private:
  struct Kept;
  ReadRequest request_;
  std::unique_ptr<Kept> kept_;
};

}  // namespace ridge::place
