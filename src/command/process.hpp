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

}  // namespace ridge::cli
