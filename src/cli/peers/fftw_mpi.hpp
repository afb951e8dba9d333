// FFTW's own transforms over MPI, for `mpirun ridge bench fft`.
#pragma once
#include <complex>
#include <cstddef>
#include <functional>
#include <memory>

#include <ridge/mpi/box.hpp>

#include "cli/peers/peer.hpp"

namespace ridge::cli {

// One problem planned by all processes of MPI_COMM_WORLD: slabs, the output left transposed, the better of in place and
// out of place. Samples of real problems lie in rows of 2 (n/2+1).
class DistributedPeer {
 public:
  virtual ~DistributedPeer() = default;
  virtual const mpi::Box& input() const = 0;
  virtual const mpi::Box& output() const = 0;
  virtual void* samples() = 0;           // to be filled before each run
  virtual std::size_t ways() const = 0;  // in place, out of place
  virtual void run(std::size_t way) = 0;
  virtual const void* spectrum(std::size_t way) const = 0;
};

// Nothing where it was not there when this was built. Error{unavailable} where it cannot do the problem.
std::unique_ptr<DistributedPeer> fftw_mpi_peer(const PeerProblem& problem);
bool have_fftw_mpi();

}  // namespace ridge::cli
