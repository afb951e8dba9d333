// The host's side of the model: functions as trees of parts that stay as they are and nests that may be placed.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include "place/model.hpp"

namespace ridge::place {

struct Refusal {
  std::string file{};
  int line = 0;
  std::string what{};
};

// What a part of the host touches, so that copies can be placed around it.
struct Touch {
  std::string data{}, count{}, element{};  // host text of an object with known extent: address, elements, type
  bool write = false;
  Variable number{};  // with a home: this is no array but a number that one may overlap
};

enum class PartKind { sequence, loop, branch, statement, nest, call };

struct Part {
  PartKind kind = PartKind::statement;
  int line = 0;
  Span span{};
  std::string source{};  // one line
  std::vector<Part> children{};
  bool anything = false;         // touches memory that is not known: everything must be on the host around it
  bool pure = false;             // touches no array at all
  std::vector<Touch> touches{};  // loop, branch: by its header
  bool arguments_touch_anything = false;
  std::vector<Touch> argument_touches{};  // call: by what is passed
  std::string why{};                      // loop: why it is not a nest
  int why_line = 0;
  std::string id{};                 // loop: l3
  std::string loop_kind{};          // loop: for, while, do
  int nest = -1;                    // index into Function::nests
  std::string callee{};             // call: the function whose placed version can stand here
  Span callee_name{}, arguments{};  // call: where its name and its arguments are
  bool leaves = false;              // declares objects that own memory in ways of their own
  bool declares = false;            // a declaration: no braces may be put around it
  bool in_sequence = false;         // stands in a { } block, so that text may be put before and after it
  struct Local {
    std::string name{}, data{}, count{}, element{};
    std::string birth{};  // a vector of which only elements are used: its length, or the range it copies
  };
  std::vector<Local> moves{};  // std::vectors whose memory it may exchange for other memory
  std::vector<std::pair<std::string, std::string>>
      knows{};                  // call: addresses it passes on, and how many elements lie there
  std::vector<Local> locals{};  // arrays it declares
  std::string in_function{};
};

struct FunctionParameter {
  std::string name{}, type{}, element{};  // as the source has them; element of arrays, else ""
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
  long length = -1;  // std::array
  int bytes = 0;
  std::vector<std::string> fields{};  // of a view, as it is made: names of its numbers, "*" for its pointer
};

struct Function {
  std::string name{}, qualified{};
  std::string result{};          // return type
  std::string parameter_text{};  // as in the source
  std::vector<FunctionParameter> parameters{};
  int line = 0, last_line = 0;
  Span whole{}, body{}, name_span{};
  bool in_main_file = false, is_static = false;
  bool says_its_name = false;  // __func__
  Part root{};
  std::vector<Nest> nests{};
  std::vector<std::string> calls{};  // functions of this file that it calls
  std::string refused{};             // why nothing of it can be placed
};

// Where the body of a function of the file begins, for clocks in it.
struct FunctionBody {
  std::string name{};  // with namespaces and classes
  int line = 0;
  unsigned begin = 0;
};

// A call of a function template that has loops of its own: the function it stands for can be written out.
struct TemplateCall {
  Span name{};             // what is called, as the call says it
  std::string function{};  // a name of its own
  unsigned at = 0;         // behind the template
  std::string text{};
  std::vector<int> lines{};  // of the text
};

struct Program {
  std::string file{}, text{};
  std::vector<int> lines{};           // of the user's file, where the text is another: that of each of its lines
  std::vector<Function> functions{};  // callees first; the one that was asked for last
  std::vector<Refusal> refusals{};
  std::vector<TemplateCall> template_calls{};
  std::vector<FunctionBody> bodies{};  // in the user's file
  std::vector<std::string> errors{};   // of the compiler: nothing else is filled in
  bool has_main = false;
};

// How functions are called that say whether a transformed nest may run: the front end knows the word.
inline constexpr const char* kGuard = "ridge_fits_";

struct ReadRequest {
  std::string file{}, function{};
  std::vector<std::string> flags{};
};

// One file, read again with other texts: what it includes is compiled once for all of them. (frontend/)
class FileReader {
 public:
  explicit FileReader(ReadRequest request);
  ~FileReader();
  FileReader(const FileReader&) = delete;
  FileReader& operator=(const FileReader&) = delete;
  Program read();  // from the disk
  Program read(const std::string& text, const std::vector<int>& lines);

 private:
  struct Kept;
  ReadRequest request_;
  std::unique_ptr<Kept> kept_;
};

}  // namespace ridge::place
