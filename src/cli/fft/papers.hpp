// Adds the `ridge fft papers` command.
#pragma once

#include "command/options.hpp"

namespace ridge::cli {

void add_fft_papers(Command& fft);

}  // namespace ridge::cli
