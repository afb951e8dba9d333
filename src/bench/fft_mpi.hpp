// `mpirun ridge bench fft`: benchmark of distributed transforms.
#pragma once
#include <ridge/mpi/communicator.hpp>

#include "bench/fft.hpp"

namespace ridge::cli {

// Collective; the root's rows hold the time of the slowest process. The whole spectrum is compared with the peer's.
FftBenchResult bench_fft_mpi(const mpi::Communicator& all, const FftBench& wanted, bool against_fftw_mpi);

}  // namespace ridge::cli
