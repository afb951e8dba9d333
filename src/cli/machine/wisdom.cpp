// ridge wisdom: shows or clears the planner's measured choices.
#include <algorithm>
#include <ctime>
#include <memory>

#include <fmt/format.h>
#include <ridge/error.hpp>
#include <ridge/plan.hpp>

#include "base/files.hpp"
#include "base/json.hpp"
#include "base/text.hpp"
#include "command/command.hpp"
#include "plan/wisdom.hpp"

namespace ridge::cli {
namespace {

std::string age_of(const wisdom::Entry& entry) {
  if (entry.measured_at == 0) return "-";
  const double hours = static_cast<double>(std::time(nullptr) - entry.measured_at) / 3600;
  if (hours < 1) return fmt::format("{:.0f} min", std::max(hours * 60, 0.0));
  return hours < 48 ? fmt::format("{:.0f} h", hours) : fmt::format("{:.0f} days", hours / 24);
}

void show_wisdom(bool json) {
  const auto entries = wisdom::all();
  if (json) {
    base::Json out = base::Json::array();
    for (const auto& entry : entries) {
      out.push_back({{"workload", entry.workload},
                     {"problem", entry.problem},
                     {"device", entry.device},
                     {"winner", entry.winner},
                     {"seconds", entry.seconds},
                     {"measured_at", entry.measured_at},
                     {"pinned", entry.pinned}});
    }
    fmt::print("{}\n", out.dump(2));
    return;
  }
  if (entries.empty()) {
    fmt::print("no wisdom yet in {}; measured plans add to it\n", wisdom::path());
    return;
  }
  std::vector<std::vector<std::string>> rows{{"problem", "device", "winner", "time", "age", ""}};
  for (const auto& entry : entries) {
    rows.push_back({entry.problem, entry.device, entry.winner,
                    entry.seconds > 0 ? base::human_seconds(entry.seconds) : "-", age_of(entry),
                    entry.pinned ? "pinned" : ""});
  }
  fmt::print("{}{} entries in {}\n", base::table(rows), entries.size(), wisdom::path());
}

[[noreturn]] void refuse_unknown(const char* what, const std::string& name) {
  throw Error(ErrorKind::invalid_argument,
              fmt::format("no {} \"{}\": ridge wisdom show lists the choices", what, name));
}

void add_pin(Command& command) {
  struct Options {
    std::string problem, variant;
  };
  auto options = std::make_shared<Options>();
  Command& pin = command.subcommand("pin", "Fix the variant of a problem, for comparisons on equal terms");
  pin.footer(
      "\nPlans of this problem use the saved winner, or the variant named here, until ridge wisdom unpin. Later\n"
      "measurements do not change it. If the variant cannot be used, plans print a warning and choose another.\n"
      "\nExamples:\n"
      "  ridge wisdom pin 'transpose c64 512x512 batch 1'                        the present winner\n"
      "  ridge wisdom pin 'transpose c64 512x512 batch 1' --variant tile_padded  another one");
  pin.option("problem", options->problem, "The problem, as ridge wisdom show prints it").required();
  pin.option("--variant", options->variant, "A variant's name, with or without parameters; default: the saved winner");
  pin.runs([options] {
    const std::size_t pinned = wisdom::pin(options->problem, options->variant);
    if (pinned == 0) {
      throw Error(ErrorKind::invalid_argument,
                  fmt::format("no saved choice for \"{}\": ridge wisdom show lists the problems, and a measured plan "
                              "adds one",
                              options->problem));
    }
    fmt::print("pinned {} entries\n", pinned);
  });
  auto problem = std::make_shared<std::string>();
  Command& unpin = command.subcommand("unpin", "Let measurements choose again");
  unpin.footer("\nExamples:\n  ridge wisdom unpin              every pinned problem");
  unpin.option("problem", *problem, "The problem; without it every pin is released");
  unpin.runs([problem] {
    const std::size_t released = wisdom::unpin(*problem);
    if (released == 0 && !problem->empty()) refuse_unknown("pinned choice for", *problem);
    fmt::print("released {} entries\n", released);
  });
}

void add_ship(Command& command) {
  struct Options {
    std::string out, workload;
  };
  auto options = std::make_shared<Options>();
  Command& ship = command.subcommand("ship", "Write the measured choices to a file that packages install");
  ship.footer(
      "\nQuick plans on other machines with a device of the same name, whatever its driver, use these winners where\n"
      "nothing was measured. The file is looked for as lib/ridge/ridge-wisdom.json beside the program;\n"
      "RIDGE_SHIPPED_WISDOM=FILE names another, RIDGE_SHIPPED_WISDOM=off none.\n"
      "\nExamples:\n  ridge wisdom ship ridge-wisdom.json --workload fft");
  ship.option("file", options->out, "File to write").required().writes();
  ship.option("--workload", options->workload, "Only one workload, for example fft");
  ship.runs([options] { base::write_file(options->out, wisdom::text_to_ship(options->workload)); });
}

}  // namespace

void add_wisdom(Command& program) {
  Command& command = program.subcommand("wisdom", "Show, pin, forget or ship the planner's measured choices");
  command.needs_subcommand();
  command.footer(
      "\nExamples:\n"
      "  ridge wisdom show                  the chosen variants, their times and ages\n"
      "  ridge wisdom pin 'transpose c64 512x512 batch 1' --variant tile_padded\n"
      "  ridge wisdom forget fft            the next measured plan of a transform is timed again");
  Command& show_command = command.subcommand("show", "Show every saved choice");
  show_command.footer("\nExamples:\n  ridge wisdom show\n  ridge wisdom show --json | jq '.[].winner'");
  auto json = std::make_shared<bool>(false);
  show_command.flag("--json", *json, "Print JSON to standard output");
  show_command.runs([json] { show_wisdom(*json); });
  add_pin(command);
  add_ship(command);
  Command& forget_command = command.subcommand("forget", "Forget the choices of one workload, or all");
  forget_command.footer("\nExamples:\n  ridge wisdom forget stencil\n  ridge wisdom forget              all of it");
  auto workload = std::make_shared<std::string>();
  forget_command.option("workload", *workload, "A workload, for example transpose; without it everything is forgotten");
  forget_command.runs([workload] {
    const std::size_t forgotten = wisdom::forget(*workload);
    if (forgotten == 0 && !workload->empty()) refuse_unknown("saved choice of workload", *workload);
    fmt::print("forgot {} entries\n", forgotten);
  });
}

}  // namespace ridge::cli
