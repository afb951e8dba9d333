#include "command/schedule.hpp"

#include <fmt/format.h>

#include "base/files.hpp"

namespace ridge::cli {

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
