// Start, status and end of the command's process, alone or under mpirun: removes temporary files and reports failed
// writes to standard output.
#pragma once
#include <atomic>
#include <functional>
#include <string>

#include <ridge/graph.hpp>
#include <ridge/mpi/communicator.hpp>

#include "base/json.hpp"
#include "command/command.hpp"

namespace ridge::cli {

// Call first. Signals and uncaught exceptions remove temporary files. A closed standard stream keeps its descriptor
// reserved; otherwise the next opened file would get it and receive printed output.
void begin_process();

// For commands that end by themselves after SIGINT or SIGTERM. While one exists, the first such signal only sets
// came(); the second ends the process and removes its temporary files.
class StopSignals {
 public:
  StopSignals();
  ~StopSignals();
  StopSignals(const StopSignals&) = delete;
  StopSignals& operator=(const StopSignals&) = delete;
  static const std::atomic<bool>& came();
  static int number();  // the first signal, also afterwards; 0: none came
};

// Call last. Returns `code`, or 1 with a line on stderr if writing standard output failed.
int end_process(int code);

// Reports a failed write to standard output; returns the exit code.
int standard_output_failed(int error);

// Runs `work` in every process of an MPI run. If one fails, it prints the error and terminates all.
void with_processes(const std::function<void(const mpi::Communicator&)>& work);

// The plugin libridge-mpi.so with everything of the command that calls MPI. It is opened if a launcher started several
// processes: MPI and its dependencies would add a dozen libraries to each start.

// A function of the plugin by its name, or null if the plugin lacks it. Error{unavailable} if there is no plugin.
void* mpi_function(const char* name);

// Shows a running command: its state for `ridge run`, in a JSON file named by RIDGE_STATUS that is rewritten about
// twice per second, and the schedule of its graph.

bool wants_status();
// Calls `make` and writes its result if the last one is older than 0.5 s, or with `now`.
void show_status(const std::function<base::Json()>& make, bool now = false);

// --schedule of commands that run a graph.
Option add_schedule_option(Command& command, std::string& file);
// Writes the chart to `file` and prints the table to stderr; `-` has no chart. Does nothing if `file` is empty.
void write_schedule(const std::string& file, const graph::Report& report);

}  // namespace ridge::cli
