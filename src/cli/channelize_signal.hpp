// ridge channelize signal: synthetic samples to a file or pipe.
#pragma once
#include <CLI/CLI.hpp>

namespace ridge::cli {

void add_channelize_signal(CLI::App& channelize);

}  // namespace ridge::cli
