// ridge bench: times the variants and other libraries on the same data in one run.
#include "bench/bench.hpp"

#include <stdlib.h>  // setenv

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/log.hpp"
#include "command/command.hpp"

namespace ridge::cli {

std::shared_ptr<BenchOptions> add_bench_options(Command& command, const std::string& peers) {
  auto options = std::make_shared<BenchOptions>();
  command.option("--device", options->devices, "Device to run on; may be repeated (default: every device)")
      .value_name("NAME");
  command.option("--against", options->against, fmt::format("Other libraries to time: {}", peers))
      .separated_by(',')
      .value_name("PEER,...");
  command.option("--variant", options->variant, "Time only this variant, as name or name(parameters)")
      .value_name("NAME");
  command.option("--json", options->json, "Write machine, rows and summary to FILE").writes();
  command.flag("--explain", options->explain, "Print the planner's explanation of each choice");
  return options;
}

void compare_plans() { ::setenv("RIDGE_VERIFY", "1", 0); }  // keeps a value already set

std::vector<Device> bench_devices(const BenchOptions& options) {
  compare_plans();
  std::vector<Device> chosen;
  for (const std::string& name : options.devices) chosen.push_back(device(name));
  return chosen.empty() ? devices().devices : chosen;
}

void finish_bench(const report::Bench& bench, const BenchOptions& options) {
  fmt::print("{}", report::to_text(bench));
  save_bench(bench, options);
}

void save_bench(const report::Bench& bench, const BenchOptions& options) {
  const auto profile = machine::load();
  for (const std::string& warning : report::roof_warnings(bench, profile)) base::warn(warning);
  if (options.json.empty()) return;
  base::Json machine = base::Json::object();
  if (profile) machine = base::parse_json(machine::to_json(*profile));
  base::write_file(options.json, report::to_json(bench, machine));
  fmt::print("wrote {}\n", options.json);
}

void add_bench(Command& program) {
  Command& command = program.subcommand(
      "bench", "Time the variants of a workload and other libraries, relative to the machine's limits");
  command.needs_subcommand();
  command.footer(
      "\nExamples:\n"
      "  ridge bench fft --against fftw --lengths 2^4..2^20\n"
      "  ridge bench stencil --device host\n"
      "  ridge bench filterbank --device cuda:0 --json bank.json\n"
      "  ridge bench transpose --explain\n"
      "\nA time is the best of several. Ridgeline and the peers run alternately on the same data.\n"
      "Shares of the roofline ceiling use the saved profile (ridge machine), or an estimate if there is none.");
  add_bench_fft(command);
  add_bench_nufft(command);
  add_bench_stencil(command);
  add_bench_filterbank(command);
  add_bench_correlator(command);
  add_bench_search(command);
  add_bench_image(command);
  add_bench_transpose(command);
  add_bench_image_stages(command);
}

}  // namespace ridge::cli
