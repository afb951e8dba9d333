// Times as a person writes them.
#pragma once
#include <optional>
#include <string_view>

namespace ridge::cli {

// "3100ns", "20.5us", "0.9ms", "2s"; a bare number is seconds.
std::optional<double> parse_seconds(std::string_view text);

}  // namespace ridge::cli
