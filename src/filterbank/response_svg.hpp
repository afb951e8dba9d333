// A prototype's response, drawn.
#pragma once
#include <span>
#include <string>

#include <ridge/filterbank.hpp>

namespace ridge::filterbank {

// Gain in dB over the offset from a channel's centre, `channels_shown` to either side, with the neighbours' curves, the
// edge and the worst leakage marked. A file of its own.
std::string response_svg(std::span<const double> prototype, std::size_t channels, const Quality& quality,
                         double channels_shown = 4);

}  // namespace ridge::filterbank
