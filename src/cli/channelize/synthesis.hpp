// `ridge channelize synthesize`: channels back to samples.
#pragma once

#include "cli/options.hpp"

namespace ridge::cli {

void add_channelize_synthesis(Command& channelize);

}  // namespace ridge::cli
