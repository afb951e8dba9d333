// ridge bench: our variants, each other's and other libraries' times in one run.
#include "cli/bench.hpp"

#include <fmt/format.h>

#include "base/files.hpp"
#include "base/json.hpp"
#include "cli/command.hpp"

namespace ridge::cli {

std::shared_ptr<BenchWishes> add_bench_options(CLI::App& command, const std::string& peers) {
  auto wishes = std::make_shared<BenchWishes>();
  command.add_option("--device", wishes->devices, "Device to run on; may be repeated (default: every device)")
      ->type_name("NAME");
  command.add_option("--against", wishes->against, fmt::format("Peers to time beside us: {}", peers))
      ->delimiter(',')
      ->type_name("PEER,...");
  command.add_option("--variant", wishes->variant, "Only this variant, as name or name(parameters)")->type_name("NAME");
  command.add_option("--json", wishes->json, "Write machine, rows and summary to FILE")->type_name("FILE");
  command.add_flag("--explain", wishes->explain, "Print the planner's explanation of each choice");
  return wishes;
}

std::vector<Device> bench_devices(const BenchWishes& wishes) {
  std::vector<Device> chosen;
  for (const std::string& name : wishes.devices) chosen.push_back(device(name));
  return chosen.empty() ? devices().devices : chosen;
}

void finish_bench(const report::Bench& bench, const BenchWishes& wishes) {
  fmt::print("{}", report::to_text(bench));
  save_bench(bench, wishes);
}

void save_bench(const report::Bench& bench, const BenchWishes& wishes) {
  if (wishes.json.empty()) return;
  base::Json machine = base::Json::object();
  if (const auto profile = machine::load()) machine = base::parse_json(machine::to_json(*profile));
  base::write_file(wishes.json, report::to_json(bench, machine));
  fmt::print("wrote {}\n", wishes.json);
}

void add_bench(CLI::App& program) {
  auto* command =
      program.add_subcommand("bench", "Time every variant of a workload, beside its peers, against the roof");
  command->require_subcommand(1);
  command->footer(
      "\nA time is the best of several; ours and the peers' are taken in turn in the same run on the same data.\n"
      "The share of the roof uses the saved profile (ridge machine), or an estimate where there is none.");
  add_bench_fft(*command);
  add_bench_stencil(*command);
  add_bench_filterbank(*command);
  add_bench_transpose(*command);
}

}  // namespace ridge::cli
