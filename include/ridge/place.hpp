// The placement compiler as a library: which loops of a sequential C or C++ function can run in parallel, which go to a
// device, and why the others cannot. `ridge place` prints the same.
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
  std::string from{}, to{};  // the two accesses
  std::string example{};     // two iterations that meet
  bool certain = true;       // false: a branch or an unknown subscript decides
};

struct LoopVerdict {
  std::string id{};      // l2; of a called function: "blur_rows.l1"
  std::string parent{};  // the loop around it, "" for none
  std::string function{};
  int line = 0;
  std::string kind{};    // for, while, do
  std::string source{};  // its header
  std::string iterator{};
  bool parallel = false;
  bool placed = false;       // in a kernel
  int axis = -1;             // of the grid: 0 is the innermost; -1: runs inside the work-item or on the host
  std::string why{};         // what keeps it sequential
  std::string not_placed{};  // parallel, but not on the device: why
  std::vector<std::string> privates{}, reductions{}, reads{}, writes{};
  std::vector<std::string> transformed{};  // what made it fit for the device
  std::vector<std::string> tried{};        // transformations that were not taken, and why
  std::vector<CarriedDependence> dependences{};
  unsigned begin = 0, end = 0, body = 0;  // bytes of the file, and where its body begins; 0 where it is in a macro
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

// A node of the spine, the picture of the program: in the order of execution, a level a loop or branch.
struct SpineNode {
  std::string kind{};  // function, loop, branch, block, call
  std::string id{};    // l1, c1, b1
  int depth = 0, line = 0;
  std::string source{};
  unsigned begin = 0, end = 0;  // of a branch, bytes of the file; 0 where it is in a macro
};

// A loop or a function in a run of the user's program, under the loops and functions that were around it then. What a
// function does when it has called itself again counts where it was first.
struct LoopRun {
  std::string loop{}, function{};  // one of them
  int parent = -1;                 // into Report::run
  double entries = 0, turns = 0;   // of a function: its calls
  double seconds = -1;             // -1: entered so often that a clock would have disturbed it
  double own = -1;                 // of a function: less the time of those it calls
};

// A function of the file, and what the run says of it in all.
struct FunctionRun {
  std::string function{};
  int line = 0;
  unsigned body = 0;  // byte of the file where it begins
  double calls = 0;
  double seconds = -1, own = -1;  // as above
};

// How often the condition of an if held in that run.
struct BranchRun {
  std::string branch{};  // c2, as in the spine
  double held = 0, failed = 0;
};

struct Parameter {  // of the function
  std::string name{}, type{}, element{}, kind{};
  bool constant = false;
  long length = -1;
  std::vector<std::string> fields{};  // of a view: its numbers, "*" for its pointer
  int bytes = 0;                      // of a number, or of an element
  bool is_unsigned = false;
};

struct Report {
  std::string file{}, function{}, result{};
  std::string qualified{};                // the function with its namespaces
  std::vector<std::string> errors{};      // the file does not compile, or has no such function
  std::vector<Diagnostic> diagnostics{};  // what is not modelled, with its place
  std::vector<LoopVerdict> loops{};
  std::vector<std::string> notes{};        // what is over-approximated
  std::vector<std::string> assumptions{};  // tested before the placed code runs
  std::vector<KernelReport> kernels{};
  std::vector<SpineNode> spine{};
  std::vector<Parameter> parameters{};
  std::string placed{};       // the text of the placed file; "" where nothing is placed
  std::string permuted{};     // OpenMP: the same with iterations in another order, for the comparison
  bool reassociates = false;  // sums are taken in another order
  bool varies = false;        // and that order differs from run to run
  bool libm = false;          // calls functions whose last bit differs between libraries
  bool has_main = false;
  std::vector<LoopRun> run{};  // what --run has measured
  std::vector<FunctionRun> functions{};
  std::vector<BranchRun> branches{};
  double run_seconds = 0;
  int readings = 0;  // of the program: once, and again for every transformation that was tried
  int judged = 0;    // nests whose dependences were computed; one that a reading leaves as it was is not judged again
  long enough = 0;   // from sizes like this on, a run comes through all of the kernels' code
};

// Memories of a device, as far as they decide where a kernel reads from.
struct Memories {
  double cached = 1, local = 1;        // bytes a second from the nearest cache and from local memory
  std::size_t local_bytes = 48 << 10;  // of a group
  bool constant = true;                // constant memory has hardware of its own
  std::string tiles = "auto";          // in local memory: auto, always, never
};

struct Options {
  std::string function{};
  std::vector<std::string> flags{};    // of the compiler: -I, -D, -std=
  std::string emit = "ridge";          // ridge, opencl, cuda, openmp
  std::vector<std::string> without{};  // kernels that are not placed, by name
  Memories memories{};
  double seconds = 120;  // of the processor, the reader may take
  std::size_t memory = std::size_t{4} << 30;
};

// Reads the file in a process of its own with bounded time and memory, so that no source can take the caller down.
// Error{unavailable} where this build has no placement compiler; whatever is wrong with the source is in the report.
Report analyze(const std::string& file, const Options& options);

std::string to_text(const Report& report);
std::string to_json(const Report& report);
std::string explain(const Report& report, const std::string& loop);  // Error{invalid_argument} where there is none
std::string to_page(const Report& report);                           // one self-contained HTML page

}  // namespace ridge::place
