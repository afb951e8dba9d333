// Stencils over processes: how near so many come to as many times one.
#pragma once
#include <ridge/mpi/communicator.hpp>

#include "cli/bench/stencil.hpp"

namespace ridge::cli {

// By all processes, which own equal boxes of wanted.shape cells each, one behind the other along the slowest axis.
// Compared with one process to the last bit on a small grid, then timed: one process alone, all of them without a word
// to each other, all with halos. The notes say where the time went.
StencilBenchResult bench_stencil_mpi(const mpi::Communicator& all, const Device& device, const StencilBench& wanted);

}  // namespace ridge::cli
