// Ring chart of the time of a run: one ring per nesting level of loops and functions.
#pragma once
#include <string>

#include <ridge/place.hpp>

namespace ridge::place {

std::string ring_chart(const Report& report);  // SVG in a figure; "" if nothing was run

}  // namespace ridge::place
