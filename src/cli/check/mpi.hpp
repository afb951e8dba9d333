// Transforms distributed over the processes that were started together, as problems of `ridge check`.
#pragma once
#include <ridge/mpi.hpp>

#include "check/check.hpp"

namespace ridge::cli {

// Of these processes, each of which draws the same problems and comes to the same outcome. One at a time.
check::Workload mpi_workload(const mpi::Communicator& all);

}  // namespace ridge::cli
