// ridge wisdom: shows or clears the planner's measured choices.
#include <memory>

#include <fmt/format.h>
#include <ridge/plan.hpp>

#include "base/json.hpp"
#include "base/text.hpp"
#include "command/command.hpp"

namespace ridge::cli {
namespace {

void show_wisdom(bool json) {
  const auto entries = wisdom::all();
  if (json) {
    base::Json out = base::Json::array();
    for (const auto& entry : entries) {
      out.push_back({{"workload", entry.workload},
                     {"problem", entry.problem},
                     {"device", entry.device},
                     {"winner", entry.winner},
                     {"seconds", entry.seconds}});
    }
    fmt::print("{}\n", out.dump(2));
    return;
  }
  if (entries.empty()) {
    fmt::print("no wisdom yet in {}; measured plans add to it\n", wisdom::path());
    return;
  }
  std::vector<std::vector<std::string>> rows{{"problem", "device", "winner", "time"}};
  for (const auto& entry : entries) {
    rows.push_back({entry.problem, entry.device, entry.winner, base::human_seconds(entry.seconds)});
  }
  fmt::print("{}{} entries in {}\n", base::table(rows), entries.size(), wisdom::path());
}

}  // namespace

void add_wisdom(Command& program) {
  Command& command = program.subcommand("wisdom", "Show or forget the planner's measured choices");
  command.needs_subcommand();
  command.footer(
      "\nExamples:\n"
      "  ridge wisdom show                  the chosen variants and their times\n"
      "  ridge wisdom forget fft            the next measured plan of a transform is timed again");
  Command& show_command = command.subcommand("show", "Show every saved choice");
  show_command.footer("\nExamples:\n  ridge wisdom show\n  ridge wisdom show --json | jq '.[].winner'");
  auto json = std::make_shared<bool>(false);
  show_command.flag("--json", *json, "Print JSON to standard output");
  show_command.runs([json] { show_wisdom(*json); });
  Command& forget_command = command.subcommand("forget", "Forget the choices of one workload, or all");
  forget_command.footer("\nExamples:\n  ridge wisdom forget stencil\n  ridge wisdom forget              all of it");
  auto workload = std::make_shared<std::string>();
  forget_command.option("workload", *workload, "A workload, for example transpose; without it everything is forgotten");
  forget_command.runs([workload] { fmt::print("forgot {} entries\n", wisdom::forget(*workload)); });
}

}  // namespace ridge::cli
