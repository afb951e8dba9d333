// Waves through a medium, driven by a source and heard by receivers: `ridge stencil acoustic` and `maxwell`.
#pragma once
#include "cli/options.hpp"

namespace ridge::cli {

void add_acoustic(Command& stencil);
void add_maxwell(Command& stencil);

}  // namespace ridge::cli
