// Of `ridge fft`.
#pragma once

#include "cli/options.hpp"

namespace ridge::cli {

void add_fft_papers(Command& fft);

}  // namespace ridge::cli
