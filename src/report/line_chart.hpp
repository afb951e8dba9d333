// Line chart (SVG) of a sweep of the machine model.
#pragma once
#include <string>

#include <ridge/machine.hpp>

namespace ridge::report {

// Draws the sweep. `key` is the prefix of every point's data-key: key.lines.2.points.5.1 is a y of the sweep's JSON.
std::string svg_of(const machine::Sweep& sweep, const std::string& key, bool standalone);

}  // namespace ridge::report
