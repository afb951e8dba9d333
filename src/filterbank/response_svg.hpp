// SVG plot of a prototype filter's frequency response.
#pragma once
#include <span>
#include <string>

#include <ridge/filterbank.hpp>

namespace ridge::filterbank {

// Gain in dB against the offset from a channel's centre, `channels_shown` channels to either side, with the curves of
// the adjacent channels, the channel edges and the worst leakage. Returns a complete SVG document.
std::string response_svg(std::span<const double> prototype, std::size_t channels, const Quality& quality,
                         double channels_shown = 4);

}  // namespace ridge::filterbank
