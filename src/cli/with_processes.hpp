// Commands that run alone or under mpirun.
#pragma once
#include <functional>

#include "mpi/processes.hpp"

namespace ridge::cli {

// Every process of an MPI run may meet a mistake; one tells it and ends them all.
void with_processes(const std::function<void(const mpi::Processes&)>& work);

}  // namespace ridge::cli
