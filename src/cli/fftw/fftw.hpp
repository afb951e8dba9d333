// Adds the `ridge fftw` command.
#pragma once
#include "cli/options.hpp"

namespace ridge::cli {

void add_fftw(Command& program);

}  // namespace ridge::cli
