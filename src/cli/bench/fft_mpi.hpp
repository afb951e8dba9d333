// `mpirun ridge bench fft`: transforms distributed over processes.
#pragma once
#include <ridge/mpi/communicator.hpp>

#include "cli/bench/fft.hpp"

namespace ridge::cli {

// By all processes; the root's rows say what the slowest of them needed. The whole spectrum is compared with the
// peer's.
FftBenchResult bench_fft_mpi(const mpi::Communicator& all, const FftBench& wanted, bool against_fftw_mpi);

}  // namespace ridge::cli
