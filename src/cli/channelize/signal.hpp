// ridge channelize signal: writes synthetic samples to a file or pipe.
#pragma once

#include "command/options.hpp"

namespace ridge::cli {

void add_channelize_signal(Command& channelize);

}  // namespace ridge::cli
