// Placement compiler as a library: decides which loops of a sequential C or C++ function can run in parallel, which of
// them run on a device, and why the others cannot. `ridge place` prints the same report.
#pragma once
#include <cstddef>
#include <string>
#include <utility>
#include <vector>

namespace ridge::place {

struct CarriedDependence {
  std::string kind{};  // flow, anti, output
  std::string variable{};
  int from_line = 0, to_line = 0;
  std::string from{}, to{};  // source text of the two accesses
  std::string example{};     // two iterations that access the same element
  bool certain = true;       // false: depends on a branch or on an unknown subscript
};

struct LoopVerdict {
  std::string id{};      // l2; in a called function: "blur_rows.l1"
  std::string parent{};  // id of the enclosing loop, "" if there is none
  std::string function{};
  int line = 0;
  std::string kind{};    // for, while, do
  std::string source{};  // its header
  std::string iterator{};
  bool parallel = false;
  bool placed = false;       // part of a kernel
  bool threads = false;      // Options::threads: runs on threads of the host if not on the device
  int axis = -1;             // grid axis, 0 is the innermost; -1: runs inside the work-item or on the host
  std::string why{};         // reason why it is sequential
  std::string not_placed{};  // reason why a parallel loop is not on the device
  std::string claim{};       // parallel only by the user's claim: the dependence that was not considered
  std::vector<std::string> privates{}, reductions{}, reads{}, writes{};
  std::vector<std::string> scans{};        // "a 0": the iterator is in subscript 0 of array a
  std::vector<std::string> transformed{};  // transformations applied to place it
  std::vector<std::string> tried{};        // transformations rejected, with the reason
  std::vector<CarriedDependence> dependences{};
  unsigned begin = 0, end = 0,
           body = 0;  // byte offsets in the file, and where the body begins; 0 if the loop comes from a macro
};

struct Diagnostic {
  std::string file{};
  int line = 0;
  std::string text{};
};

struct KernelReport {
  std::string name{}, text{};
  std::vector<std::string> loops{};
};

// Node of the spine, a drawing of the program in execution order with one level per enclosing loop or branch.
struct SpineNode {
  std::string kind{};  // function, loop, branch, block, call
  std::string id{};    // l1, c1, b1
  int depth = 0, line = 0;
  std::string source{};
  unsigned begin = 0, end = 0;  // byte offsets of a branch in the file; 0 if it comes from a macro
};

// Counts and time of one loop or function in a run of the user's program, per enclosing loops and functions. Recursive
// calls are counted at the outermost call.
struct LoopRun {
  std::string loop{}, function{};  // exactly one is set
  int parent = -1;                 // index into Report::run
  double entries = 0, turns = 0;   // entries of a function are its calls; turns: iterations
  double seconds = -1;             // -1: entered so often that a clock would change the result
  double own = -1;                 // functions only: time without the functions it calls
};

// A function of the file and its totals over the run.
struct FunctionRun {
  std::string function{};
  int line = 0;
  unsigned body = 0;  // byte offset of the body in the file
  double calls = 0;
  double seconds = -1, own = -1;  // as in LoopRun
};

// Number of times the condition of an if was true and false in the run.
struct BranchRun {
  std::string branch{};  // c2, the id in the spine
  double held = 0, failed = 0;
};

struct Parameter {  // parameter of the placed function
  std::string name{}, type{}, element{}, kind{};
  bool constant = false;
  long length = -1;
  // Of a view: names of its integers, "*" for its pointer. Of structs with fields of several types: bytes of a struct,
  // then "OFFSET TYPE" of each number.
  std::vector<std::string> fields{};
  int bytes = 0;  // size of the number, or of an element
  bool is_unsigned = false;
};

struct Report {
  std::string file{}, function{}, result{}, emit{};
  std::string qualified{};                // name with namespaces
  std::string source{};                   // the file with a member function as a free function; "" for other functions
  std::vector<std::string> errors{};      // compiler errors, or: no such function
  std::vector<Diagnostic> diagnostics{};  // constructs that are not supported, with file and line
  std::vector<LoopVerdict> loops{};
  std::vector<std::string> notes{};        // accesses that are over-approximated
  std::vector<std::string> assumptions{};  // conditions tested before the placed code runs
  std::vector<KernelReport> kernels{};
  std::vector<SpineNode> spine{};
  std::vector<Parameter> parameters{};
  std::string placed{};       // text of the placed file; "" if nothing is placed
  std::string header{};       // Options::session: declares the function that is called with a session
  std::string device_part{};  // C file on a device: text of the C++ file that belongs to it
  std::string permuted{};     // threads: the placed file with iterations in another order, for the comparison
  bool reassociates = false;  // sums are added in another order than in the source
  bool varies = false;        // that order differs from run to run
  bool libm = false;          // calls math functions whose last bit differs between libraries
  bool has_main = false;
  std::vector<LoopRun> run{};  // results of --run
  std::vector<FunctionRun> functions{};
  std::vector<BranchRun> branches{};
  double run_seconds = 0;
  int readings = 0;  // parses of the program: one, and one per transformation tried
  int judged = 0;    // nests whose dependences were computed; an unchanged nest is not analyzed again
  long enough = 0;   // smallest size at which a run executes every branch of the kernels; 0: any size
};

// Memories of a device, as far as they decide which memory a kernel reads from.
struct Memories {
  double cached = 1, local = 1;        // bytes per second from the nearest cache and from local memory
  std::size_t local_bytes = 48 << 10;  // per work-group
  bool constant = true;                // constant memory has a cache of its own
  std::string tiles = "auto";          // tiles in local memory: auto, always, never
  bool strips = false;                 // also a version of each kernel for arrays larger than the device's memory
};

struct Options {
  std::string function{};
  std::vector<std::string> flags{};    // compiler flags: -I, -D, -std=
  std::string emit = "ridge";          // ridge, opencl, cuda, openmp
  bool session = false;                // also a function that is called with a session of the caller
  bool threads = false;                // nests that are not on the device run on threads of the host
  std::vector<std::string> without{};  // names of kernels to leave on the host
  std::vector<std::string> pins{};     // "l3=host": not placed; "l2=device": placed if legal, even if it does not pay
  std::string models{};                // C++ text: functions of namespace ridge_models that stand for library functions
  Memories memories{};
  double seconds = 120;  // limit on CPU time for parsing and analysis
  std::size_t memory = std::size_t{4} << 30;
};

// Parses and analyzes the file in a child process with bounded time and memory, so that no source can crash the caller.
// Throws Error{unavailable} if this build has no placement compiler; faults of the source are in the report.
Report analyze(const std::string& file, const Options& options);

std::string to_text(const Report& report);
std::string to_json(const Report& report);
std::string explain(const Report& report, const std::string& loop);  // Error{invalid_argument} if there is no such loop
std::string to_page(const Report& report);                           // one self-contained HTML page

}  // namespace ridge::place
