// What every `ridge bench` produces, and its JSON.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <ridge/machine.hpp>

#include "base/json_fwd.hpp"

namespace ridge::report {

struct BenchRow {
  std::string problem;  // "transpose c64 8192x8192"
  std::string device;   // "cuda:0"
  std::string variant;  // "tile_padded(tile=32x8)"
  double seconds = 0;   // the best of several
  double gflops = 0;    // 1e9 a second; 0 where the work has no arithmetic
  double gbytes_per_s = 0;
  double roof_share = 0;                     // of what the machine model says is possible; 0 where nobody knows
  std::map<std::string, double> peers = {};  // seconds of other libraries on the same data in the same run
  bool chosen = false;                       // what the planner picked among the rows of this problem and device
  std::map<std::string, double> more = {};   // of one workload only, in the JSON: "gcells_per_s"
};

// Against one peer, a row a problem and device: the planner's choice, or the fastest where none is marked. A speedup
// above 1 is ours.
struct PeerSummary {
  double geomean_speedup = 0, worst_speedup = 0;
  std::string worst_problem;  // "problem on device"
  std::size_t problems = 0;
};

struct Illustration {  // on the page only
  std::string caption;
  std::string png_base64;
};

struct Bench {
  std::string title;      // "The corner turn"
  std::string note = {};  // a sentence on what is shown
  std::vector<BenchRow> rows;
  std::vector<std::string> missing_peers = {};  // "fftw: not installed when this was built"
  std::vector<Illustration> illustrations = {};
  std::string beyond_roof = {};  // why a share above 100 % is no fault; empty where it would be one
};

// Bench::beyond_roof of stencils, whose roof is one read and one write per cell and step.
inline constexpr const char* kSeveralSteps = "several time steps are computed per pass over memory";

// Rows that stand for us in the summary, as indices.
std::vector<std::size_t> best_rows(const std::vector<BenchRow>& rows);
std::map<std::string, PeerSummary> summarize(const std::vector<BenchRow>& rows);

// A device's rows as points for its roofline: of every problem the `most` fastest variants and the chosen one.
std::vector<machine::Point> points_of(const std::vector<BenchRow>& rows, const std::string& device,
                                      std::size_t most = 4);

// Shares of the roof above 100 % and their cause, a line per device. `profile` is the one the shares were computed
// with: nothing where ceilings were estimated.
std::vector<std::string> roof_warnings(const Bench& bench, const std::optional<machine::Profile>& profile);

base::Json json_of(const Bench& bench);  // "title", "note", "rows", "summary", and "missing_peers" where there are any
// The whole document of `--json FILE`: {"machine": …, "rows": …, "summary": …}.
std::string to_json(const Bench& bench, const base::Json& machine);
std::string to_text(const Bench& bench);  // a table and a line a peer, for a terminal

}  // namespace ridge::report
