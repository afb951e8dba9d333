// Where the time of a run goes: rings around the whole program, a ring a level of loops.
#pragma once
#include <string>

#include <ridge/place.hpp>

namespace ridge::place {

std::string ring_chart(const Report& report);  // SVG in a figure; "" where nothing was run

}  // namespace ridge::place
