// Entry point of the MPI plugin.
#include "mpi/communicator_state.hpp"

extern "C" void ridge_mpi_world(const ridge::mpi::Services* services,
                                std::shared_ptr<ridge::mpi::Communicator::State>* state) {
  *state = ridge::mpi::mpi_world(*services);
}
