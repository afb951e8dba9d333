// Commands that run alone or under mpirun.
#pragma once
#include <functional>

#include <ridge/mpi/communicator.hpp>

namespace ridge::cli {

// Every process of an MPI run may meet a mistake; one tells it and ends them all.
void with_processes(const std::function<void(const mpi::Communicator&)>& work);

}  // namespace ridge::cli
