// Options and output shared by all `ridge bench` commands; one file per workload next to it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/machine.hpp>

#include "command/options.hpp"
#include "report/bench_rows.hpp"

namespace ridge::cli {

struct BenchOptions {
  std::vector<std::string> devices;  // --device, may be repeated; empty: every device
  std::vector<std::string> against;  // --against
  std::string variant;               // --variant
  std::string json;                  // --json FILE
  bool explain = false;
};

// Adds the options common to all benches.
std::shared_ptr<BenchOptions> add_bench_options(Command& command, const std::string& peers);

// From now on plans compare candidates with the reference before choosing, unless RIDGE_VERIFY is set: no variant is
// timed that was not compared on the same problem.
void compare_plans();

// The requested devices, or all. Enables comparison in their plans.
std::vector<Device> bench_devices(const BenchOptions& options);

// Prints the table and writes the JSON file.
void finish_bench(const report::Bench& bench, const BenchOptions& options);
// Warns of shares above 100 % of the roofline ceiling and writes the JSON file.
void save_bench(const report::Bench& bench, const BenchOptions& options);

// One per workload.
void add_bench_transpose(Command& bench);
void add_bench_fft(Command& bench);
void add_bench_nufft(Command& bench);
void add_bench_stencil(Command& bench);
void add_bench_filterbank(Command& bench);
void add_bench_correlator(Command& bench);
void add_bench_search(Command& bench);
void add_bench_image(Command& bench);
void add_bench_image_stages(Command& bench);

}  // namespace ridge::cli
