// `ridge channelize synthesize`: reconstructs samples from channels.
#pragma once

#include "command/options.hpp"

namespace ridge::cli {

void add_channelize_synthesis(Command& channelize);

}  // namespace ridge::cli
