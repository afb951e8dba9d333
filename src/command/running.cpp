// Writes the state of a running command and the schedule of its graph.
#include "command/running.hpp"

#include <cstdlib>

#include <fmt/format.h>

#include "base/clock.hpp"
#include "base/files.hpp"

namespace ridge::cli {

bool wants_status() {
  static const bool wanted = std::getenv("RIDGE_STATUS") != nullptr;
  return wanted;
}

void show_status(const std::function<base::Json()>& make, bool now) {
  static double last = 0;
  if (!wants_status() || (!now && base::now() - last < 0.5)) return;
  last = base::now();
  base::write_file(std::getenv("RIDGE_STATUS"), make().dump());
}

Option add_schedule_option(Command& command, std::string& file) {
  return command
      .option("--schedule", file,
              "Write when each stage (read, compute, write) was busy as a Gantt chart and print the table; - for the "
              "table only")
      .ends_in({".svg"})
      .writes();
}

void write_schedule(const std::string& file, const graph::Report& report) {
  if (file.empty()) return;
  if (file != "-") base::write_file(file, report.svg());
  fmt::print(stderr, "{}", report.text());
}

}  // namespace ridge::cli
