// Detects the MPI launcher of this process and divides the cores among the processes of a machine.
#pragma once
#include <cstddef>
#include <string>

#include <ridge/mpi/communicator.hpp>

namespace ridge::mpi {

// The launcher that started this process, according to the environment.
struct Launch {
  std::string variable{};  // the variable found, with its value; empty: no launcher
  std::size_t count = 0;   // processes; 0 if the launcher does not say
  std::size_t rank = 0;
  bool others() const { return count > 1 || rank > 0; }  // certainly more than one process
  bool perhaps_others() const {
    return !variable.empty() && count != 1;
  }  // more than one process is possible; only MPI knows
};
Launch launch();

// Binds this process to its share of the cores if several processes of the machine may use the same ones. Leaves a
// binding by the launcher unchanged. Call before creating threads.
void divide_cores(const Communicator& all);

}  // namespace ridge::mpi
