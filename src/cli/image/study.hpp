// The study of variance methods, `ridge variance --study`.
#pragma once
#include <cstddef>
#include <string>

namespace ridge::cli {

// Prints the median relative error of every variance method for float noise of variance 1 with growing mean, and the
// time of each method on 8-bit data. Writes a plot if `plot` names a file.
void run_variance_study(std::size_t window, std::size_t threads, const std::string& plot);

}  // namespace ridge::cli
