// Transforms of a .npy file that exceeds the memory limit, in passes over panels on disk.
#pragma once
#include "cli/fft/files.hpp"

namespace ridge::cli {

// True for a .npy file with a single transform that, with its result, exceeds a given --memory. Other inputs hold at
// least one transform in memory.
bool runs_out_of_core(const FftFileOptions& options, const FftFileProblem& problem);

// Two axes (three: planes count as rows): rows are transformed and written as tiles, columns of tiles are transformed,
// tiles are joined to rows. One axis of n = rows x columns points: tiles, columns with twiddle factors, rows,
// transposed. Two work files beside the output, one of which becomes the output. Finished panels are noted after they
// are on disk, so that --resume continues after any interruption with the same bytes.
void transform_out_of_core(const FftFileOptions& options, const FftFileProblem& problem);

}  // namespace ridge::cli
