#include <charconv>
#include <cstdlib>
#include <cstring>

#include "mpi/processes.hpp"

namespace ridge::mpi {

bool launched_with_others() {
  // Open MPI, MPICH and Intel MPI (Hydra), Slurm with PMI.
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "MPI_LOCALNRANKS"}) {
    const char* value = std::getenv(name);
    int count = 0;
    if (value != nullptr && std::from_chars(value, value + std::strlen(value), count).ec == std::errc{} && count > 1) {
      return true;
    }
  }
  return false;
}

}  // namespace ridge::mpi
