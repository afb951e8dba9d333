// Runs a command alone or under mpirun.
#pragma once
#include <functional>

#include <ridge/mpi/communicator.hpp>

namespace ridge::cli {

// Runs `work` in every process of an MPI run. If one fails, it prints the error and terminates all.
void with_processes(const std::function<void(const mpi::Communicator&)>& work);

}  // namespace ridge::cli
