// The plugin libridge-mpi.so with everything of the command that calls MPI. It is opened if a launcher started several
// processes: MPI and its dependencies would add a dozen libraries to each start.
#pragma once

namespace ridge::cli {

// A function of the plugin by its name, or null if the plugin lacks it. Error{unavailable} if there is no plugin.
void* mpi_function(const char* name);

}  // namespace ridge::cli
