// Adds the `ridge fftw` command.
#pragma once
#include "command/options.hpp"

namespace ridge::cli {

void add_fftw(Command& program);

}  // namespace ridge::cli
