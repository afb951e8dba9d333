// Shared by the workloads of `ridge bench`: options, cases, and the contest in which calls are timed.
//
// A workload is one file that returns a Workload: the text of its --help, its options, and the cases that the options
// ask for. A case returns rows. The runner (bench.cpp) does the rest: progress, table, warnings, JSON, peers that
// differ.
#pragma once
#include <cmath>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/machine.hpp>
#include <ridge/mpi/communicator.hpp>
#include <ridge/plan.hpp>

#include "command/options.hpp"
#include "report/bench_rows.hpp"

namespace ridge::cli {

struct BenchOptions {
  std::vector<std::string> devices;  // --device, may be repeated; empty: every device
  std::vector<std::string> against;  // --against
  std::string variant;               // --variant
  std::string json, html;            // --json FILE, --html FILE
  bool explain = false;
};

struct BenchResult {
  std::vector<report::BenchRow> rows{};
  std::vector<std::string> notes{};
  std::string explanation{};                 // printed with --explain
  std::vector<std::string> disagreements{};  // results that differ: the command fails after the table
};

// Shows a case's progress on a terminal.
using Tell = std::function<void(const std::string& what)>;

struct BenchCase {
  std::string text;  // for the progress bar
  std::function<BenchResult(const Tell& tell)> run;
  std::string left_out{};  // an error of one of several cases becomes a note that begins with this; empty: it ends all
};

struct BenchTable {
  BenchTable(const std::string& title, const std::string& note) : bench{.title = title, .note = note, .rows = {}} {}
  report::Bench bench;  // title, note, peers that are missing; without rows
  std::vector<BenchCase> cases{};
  bool at_end = false;       // print the table after the last case, not row by row
  bool notes_first = false;  // print the notes of a case above its rows, not below the table
  std::string (*text)(const report::Bench&) = report::to_text;
};

struct Workload {
  std::string name{}, about{}, footer{};
  std::string peers{};  // for the help of --against; empty: no such option
  std::function<void(Command& command)> add_options{};
  // Called once the options are set. `all` has several processes under mpirun, where each process calls it.
  std::function<std::vector<BenchTable>(const BenchOptions& options, const mpi::Communicator& all)> tables{};
  bool uses_processes = false;  // divides its work under mpirun
};

// The requested devices, or all. From now on plans compare candidates with the reference before choosing, unless
// RIDGE_VERIFY is set: no variant is timed that was not compared on the same problem.
std::vector<Device> bench_devices(const BenchOptions& options);
void compare_plans();

// Error{out_of_memory} if the arrays that a case keeps on the host exceed this machine's memory.
void check_host_memory(double bytes);

// Rejects peers that are not in `known`.
void check_peers(const BenchOptions& options, const std::vector<std::string>& known);

// Options of several workloads: --seconds, --plan-seconds.
void add_seconds(Command& command, double& seconds, const std::string& help = "Time per measurement, in seconds");
void add_plan_seconds(Command& command, double& seconds);

// True for candidates that can run and that --variant asks for.
bool is_wanted(const planner::Candidate& candidate, const std::string& variant);
// Plans one variant without measuring.
planner::Options only(const std::string& variant);
// "radix8 / stockham": the variants that a plan chose.
std::string winners(const std::vector<planner::Decision>& decisions);

// Relative distance of two results in the root mean square; NaN if one has a NaN.
template <class T>
double distance(std::span<const T> ours, std::span<const T> expected) {
  double difference = 0, norm = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    const double apart = static_cast<double>(ours[i]) - static_cast<double>(expected[i]);
    difference += apart * apart;
    norm += static_cast<double>(expected[i]) * static_cast<double>(expected[i]);
  }
  return norm > 0 ? std::sqrt(difference / norm) : std::sqrt(difference);
}

// Lower bound on the time of a problem by the machine model, and the limiting ceiling.
struct Floor {
  double arithmetic_seconds = 0;  // flops over the peak
  double memory_seconds = 0;      // bytes over the bandwidth of the level that holds them
  std::string peak{}, level{};    // as text: "83.1 GFLOP/s", "L2 at 45.2 GB/s"
  bool measured = false;          // false: the ceilings are estimated
  double seconds() const { return arithmetic_seconds > memory_seconds ? arithmetic_seconds : memory_seconds; }
};
// Each of `bytes` is read or written once; `threads` 0 means all.
Floor floor_of(const Device& device, double flops, double bytes, bool float64, std::size_t threads);
double copy_ceiling(const Device& device);  // bytes per second, read and written

// Calls that alternate round by round on the same data: ours in rows, peers beside them, and calls that are only timed.
struct Contest {
  using Call = std::function<void()>;
  using Calls = std::vector<Call>;
  struct Entry {
    std::string name;
    Call call;
    double flops = 0, bytes = 0;  // of one call
    double floor_seconds = 0;     // lower bound on the time; 0: unknown, or by the copy
    bool chosen = false;          // by the planner
  };
  Device device;
  std::string problem;
  std::vector<Entry> ours{}, peers{};
  Calls others{};
  std::vector<double> other_seconds{};  // of `others`, once they were timed
  std::size_t copied = 0;               // bytes that others.front() copies: its speed is the ceiling of the rows

  // `clock` returns the seconds of each call.
  std::vector<report::BenchRow> time(const std::function<std::vector<double>(const Calls& calls)>& clock);
  double copy_rate() const;  // of others.front(), in bytes per second
};

report::BenchRow row_of(const Device& device, const std::string& problem, const std::string& variant, double seconds,
                        double flops, double bytes);
// The row of one call that enqueues: at least 2 and at most 200 times, for about `seconds`.
report::BenchRow timed_row(Queue& queue, const Device& device, const std::string& problem, Contest::Entry entry,
                           double seconds);

// Appends a case per accelerator among the requested devices, "WORKLOAD on DEVICE". The host is refused if it was
// requested by name.
void add_accelerators(BenchTable& table, const BenchOptions& options, const std::string& workload,
                      const std::function<BenchResult(const Device& device)>& run);

// Least seconds of each call by a CPU clock (CLOCK_THREAD_CPUTIME_ID, CLOCK_PROCESS_CPUTIME_ID), which other programs
// on the processor change less than elapsed time.
std::vector<double> least_cpu_seconds(const Contest::Calls& calls, double seconds, int clock);

// "86 W by NVML, 12 GFLOP/s per watt": runs a call, which takes `seconds`, for about a second. With a queue the call
// enqueues.
std::string power_of(const Device& device, const Contest::Call& call, double flops, double seconds, Queue* queue);

}  // namespace ridge::cli
