// Waves in a medium with a source and receivers: `ridge stencil acoustic` and `maxwell`.
#pragma once
#include "command/options.hpp"

namespace ridge::cli {

void add_acoustic(Command& stencil);
void add_maxwell(Command& stencil);

}  // namespace ridge::cli
