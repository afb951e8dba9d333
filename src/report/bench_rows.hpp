// Result rows of `ridge bench` and their JSON and text forms.
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
  double seconds = 0;   // best of several runs
  double gflops = 0;    // 1e9 operations per second; 0 if the work has no arithmetic
  double gbytes_per_s = 0;
  double roof_share = 0;                     // share of the rate that the machine model allows; 0 if unknown
  std::map<std::string, double> peers = {};  // seconds of other libraries on the same data, measured in the same run
  bool chosen = false;                       // true for the variant the planner chose for this problem and device
  std::map<std::string, double> more = {};   // workload-specific JSON members: "gcells_per_s"
};

// Comparison with one other library over one row per problem and device: the planner's choice, or the fastest row if
// none is marked. A speedup above 1 means that Ridgeline is faster.
struct PeerSummary {
  double geomean_speedup = 0, worst_speedup = 0;
  std::string worst_problem;  // "problem on device"
  std::size_t problems = 0;
};

struct Illustration {  // shown on the page only
  std::string caption;
  std::string png_base64;
};

struct Bench {
  std::string title;      // "The corner turn"
  std::string note = {};  // one sentence that describes the benchmark
  std::vector<BenchRow> rows;
  std::vector<std::string> missing_peers = {};  // "fftw: not installed when this was built"
  std::vector<Illustration> illustrations = {};
  std::string beyond_roof = {};  // reason why a share above 100 % is valid; empty if it is an error
};

// Bench::beyond_roof of stencils, whose ceiling assumes one read and one write per cell and step.
inline constexpr const char* kSeveralSteps = "several time steps are computed per pass over memory";

// Indices of the rows that represent Ridgeline in the summary: one per problem and device.
std::vector<std::size_t> best_rows(const std::vector<BenchRow>& rows);
std::map<std::string, PeerSummary> summarize(const std::vector<BenchRow>& rows);

// Rows of one device as points of its roofline: the `most` fastest variants of each problem, and the chosen one.
std::vector<machine::Point> points_of(const std::vector<BenchRow>& rows, const std::string& device,
                                      std::size_t most = 4);

// Lists shares of the ceiling above 100 % with their cause, one line per device. `profile` is the profile the shares
// were computed with. Empty if the ceilings were estimated.
std::vector<std::string> roof_warnings(const Bench& bench, const std::optional<machine::Profile>& profile);

base::Json json_of(const Bench& bench);  // "title", "note", "rows", "summary", and "missing_peers" if there are any
// The whole document of `--json FILE`: {"machine": …, "rows": …, "summary": …}.
std::string to_json(const Bench& bench, const base::Json& machine);
std::string to_text(const Bench& bench);  // a table for a terminal, and one line per peer

}  // namespace ridge::report
