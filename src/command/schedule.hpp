// The option --schedule of commands that run a graph.
#pragma once
#include <string>

#include <ridge/graph.hpp>

#include "command/command.hpp"

namespace ridge::cli {

Option add_schedule_option(Command& command, std::string& file);
// Writes the chart to `file` and prints the table to stderr; `-` has no chart. Does nothing if `file` is empty.
void write_schedule(const std::string& file, const graph::Report& report);

}  // namespace ridge::cli
