// Times as a person writes them.
#pragma once
#include <optional>
#include <string_view>

namespace ridge::cli {

// "3100ns", "20.5us", "0.9ms", "2s", "0"; a number other than 0 needs its unit.
std::optional<double> parse_seconds(std::string_view text);

}  // namespace ridge::cli
