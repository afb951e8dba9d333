// Built instead of communicator_mpi.cpp if MPI was not found: a single process.
#include <fmt/format.h>

#include "mpi/communicator_state.hpp"
#include "mpi/launched.hpp"

namespace ridge::mpi {

std::shared_ptr<Communicator::State> mpi_world(const Services&) {
  if (const Launch found = launch(); found.others()) {
    throw Error(
        ErrorKind::unavailable,
        fmt::format("several processes were started ({}), but this ridge was built without MPI (apt-get install "
                    "libopenmpi-dev openmpi-bin, then build again)",
                    found.variable));
  }
  return nullptr;
}
std::shared_ptr<Communicator::State> mpi_from(int, const Services&) {
  throw Error(ErrorKind::unavailable, "this ridge was built without MPI: only a single process is available");
}

}  // namespace ridge::mpi
