// Transforms distributed over the processes that were started together, as problems of `ridge check`.
#pragma once
#include <ridge/mpi.hpp>

#include "check/check.hpp"

namespace ridge::cli {

// All processes draw the same problems and reach the same outcome. Only one such workload may exist at a time.
check::Workload mpi_workload(const mpi::Communicator& all);

}  // namespace ridge::cli
