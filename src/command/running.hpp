// Shows a running command: its state for `ridge run`, in a JSON file named by RIDGE_STATUS that is rewritten about
// twice per second, and the schedule of its graph.
#pragma once
#include <functional>
#include <string>

#include <ridge/graph.hpp>

#include "base/json.hpp"
#include "command/command.hpp"

namespace ridge::cli {

bool wants_status();
// Calls `make` and writes its result if the last one is older than 0.5 s, or with `now`.
void show_status(const std::function<base::Json()>& make, bool now = false);

// --schedule of commands that run a graph.
Option add_schedule_option(Command& command, std::string& file);
// Writes the chart to `file` and prints the table to stderr; `-` has no chart. Does nothing if `file` is empty.
void write_schedule(const std::string& file, const graph::Report& report);

}  // namespace ridge::cli
