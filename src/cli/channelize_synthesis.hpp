// `ridge channelize synthesize`: channels back to samples.
#pragma once
#include <CLI/CLI.hpp>

namespace ridge::cli {

void add_channelize_synthesis(CLI::App& channelize);

}  // namespace ridge::cli
