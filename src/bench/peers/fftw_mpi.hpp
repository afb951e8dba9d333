// Peer FFTW over MPI, for `mpirun ridge bench fft`.
#pragma once
#include <complex>
#include <cstddef>
#include <functional>
#include <memory>

#include <ridge/mpi/box.hpp>

#include "bench/peers/peer.hpp"

namespace ridge::cli {

// One problem planned by all processes of MPI_COMM_WORLD: slabs, transposed output, the faster of in place and out of
// place. Samples of real problems are in rows of 2 (n/2+1).
class DistributedPeer {
 public:
  virtual ~DistributedPeer() = default;
  virtual const mpi::Box& input() const = 0;
  virtual const mpi::Box& output() const = 0;
  virtual void* samples() = 0;           // to be filled before each run
  virtual std::size_t ways() const = 0;  // number of layouts: in place, out of place
  virtual void run(std::size_t way) = 0;
  virtual const void* spectrum(std::size_t way) const = 0;
};

// Error{unavailable} if it does not support the problem. Call only if have_fftw_mpi().
std::unique_ptr<DistributedPeer> fftw_mpi_peer(const PeerProblem& problem);
bool have_fftw_mpi();  // in a job of several processes

}  // namespace ridge::cli
