// Of `ridge fft`.
#pragma once
#include <CLI/CLI.hpp>

namespace ridge::cli {

void add_fft_papers(CLI::App& fft);

}  // namespace ridge::cli
