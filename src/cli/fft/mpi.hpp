// `mpirun ridge fft IN OUT`: many processes transform a file; each reads and writes its own points.
#pragma once
#include <ridge/mpi/communicator.hpp>

#include "cli/fft/files.hpp"

namespace ridge::cli {

void transform_file_mpi(const FftFileOptions& options, const mpi::Communicator& all);

}  // namespace ridge::cli
