// Parses durations with units.
#pragma once
#include <optional>
#include <string_view>

namespace ridge::cli {

// Accepts "3100ns", "20.5us", "0.9ms", "2s" and "0"; numbers other than 0 need a unit.
std::optional<double> parse_seconds(std::string_view text);

}  // namespace ridge::cli
