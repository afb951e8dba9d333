// Weak-scaling benchmark of stencils over MPI processes.
#pragma once
#include <ridge/mpi/communicator.hpp>

#include "bench/stencil.hpp"

namespace ridge::cli {

// Collective; each process owns an equal box of wanted.shape cells, consecutive along the slowest axis. First compared
// with one process bit by bit on a small grid, then timed: one process alone, all without communication, all with halo
// exchange. The notes break down the time.
StencilBenchResult bench_stencil_mpi(const mpi::Communicator& all, const Device& device, const StencilBench& wanted);

}  // namespace ridge::cli
