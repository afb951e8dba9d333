// A sweep as lines over its x.
#pragma once
#include <string>

#include <ridge/machine.hpp>

namespace ridge::report {

// `key` starts the data-key of every point: key.lines.2.points.5.1 is a y of the sweep's JSON.
std::string svg_of(const machine::Sweep& sweep, const std::string& key, bool standalone);

}  // namespace ridge::report
