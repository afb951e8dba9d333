// What every `ridge bench` has in common; one file a workload beside it.
#pragma once
#include <memory>
#include <string>
#include <vector>

#include <ridge/device.hpp>
#include <ridge/machine.hpp>

#include "cli/options.hpp"
#include "report/bench_rows.hpp"

namespace ridge::cli {

struct BenchOptions {
  std::vector<std::string> devices;  // --device, may be given several times; empty: every device
  std::vector<std::string> against;  // --against
  std::string variant;               // --variant
  std::string json;                  // --json FILE
  bool explain = false;
};

// The options every bench takes.
std::shared_ptr<BenchOptions> add_bench_options(Command& command, const std::string& peers);

// From here on plans compare before they choose, unless RIDGE_VERIFY says otherwise: nothing is timed that was not
// compared on the very problem.
void compare_plans();

// The devices wished for, or all of them, whose plans compare from here on.
std::vector<Device> bench_devices(const BenchOptions& options);

// Prints the table and writes the JSON file.
void finish_bench(const report::Bench& bench, const BenchOptions& options);
// Warns of shares above 100 % of the roof and writes the JSON file.
void save_bench(const report::Bench& bench, const BenchOptions& options);

// One a workload.
void add_bench_transpose(Command& bench);
void add_bench_fft(Command& bench);
void add_bench_stencil(Command& bench);
void add_bench_filterbank(Command& bench);
void add_bench_correlator(Command& bench);
void add_bench_image(Command& bench);
void add_bench_image_stages(Command& bench);

}  // namespace ridge::cli
