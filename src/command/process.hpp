// Start and end of the command's process, alone or under mpirun: removes temporary files and reports failed writes to
// standard output.
#pragma once
#include <functional>

#include <ridge/mpi/communicator.hpp>

namespace ridge::cli {

// Call first. Signals and uncaught exceptions remove temporary files. A closed standard stream keeps its descriptor
// reserved; otherwise the next opened file would get it and receive printed output.
void begin_process();

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

}  // namespace ridge::cli
